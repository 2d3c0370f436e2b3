// The audit page shows a live log of changes with their actor, time and target; the newest comes first.
import { Box, Button, Group, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useDeferredValue, useMemo } from 'react'
import { actionName } from '../../domain/journal/audit/action-names.ts'
import { useAuditWindow } from '../../domain/journal/audit/audit-window.ts'
import { ViewsMenu } from '../../domain/people/view/views-menu.tsx'
import { CrossIcon } from '../../parts/page/icons.tsx'
import { EmptyState, ErrorPanel, Page } from '../../parts/page/page.tsx'
import { Loading } from '../../parts/page/skeleton.tsx'
import { FilterBar, FilterSelect, SearchBox } from '../../parts/table/list-filters.tsx'
import { useSearchParamsUpdate } from '../../parts/table/search-params.ts'
import { plural } from '../../parts/text/words.ts'
import { usePermissions } from '../../session.ts'
import { type AuditLogEntry, entriesPerPage, filterEntries, useAuditEntries, useDeviceTexts } from './audit-entries.ts'
import { categoryNames } from './audit-names.ts'
import { AuditTable } from './audit-table.tsx'
import { ExportButton } from './export-button.tsx'
import { WindowPicker } from './window-picker.tsx'

const route = getRouteApi('/audit')
const noEntries: readonly AuditLogEntry[] = []
const categories = Object.entries(categoryNames).map(([value, label]) => ({ value, label }))
const knownCategory = (name: string | undefined) => categories.find(({ value }) => value === name)?.value

/** Only admins, owners and keys with Read may read the log. [contract 11.user] */
export const AuditPage = () => (usePermissions().auditLog ? <AuditLog /> : <NoAuditAccess />)

const NoAuditAccess = () => (
  <Page title="Audit">
    <EmptyState title="You do not have access to the audit log">
      Admins and owners can read the audit log. Ask an owner if you need access.
    </EmptyState>
  </Page>
)

function AuditLog() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const window = useAuditWindow(search.from, search.to)
  const query = useAuditEntries(window)
  const { entries = noEntries, hasNextPage, isFetchingNextPage } = query
  const deferredSearch = useDeferredValue(search)
  const deviceTexts = useDeviceTexts()
  const shown = useMemo(
    () => filterEntries(entries, { ...deferredSearch, category: knownCategory(deferredSearch.category) }, deviceTexts),
    [entries, deferredSearch, deviceTexts],
  )
  const types = useMemo(() => typesIn(entries), [entries])
  const setSearch = useSearchParamsUpdate<typeof search>(navigate)
  const isFiltered = knownCategory(search.category) !== undefined || search.type !== undefined || Boolean(search.q)
  const clear = () => setSearch({ category: undefined, type: undefined, q: undefined })

  const footer = (
    <Group gap="sm">
      {hasNextPage ? (
        <Button variant="default" size="xs" loading={isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Load {entriesPerPage} more
        </Button>
      ) : (
        shown.length > 0 && (
          <Text fz="sm" c="dimmed" data-screen-only>
            End of list
          </Text>
        )
      )}
      {hasNextPage && isFiltered && (
        <Text fz="sm" c="dimmed">
          Filtering the latest {entries.length.toLocaleString('en-GB')} entries. Load more to search further back.
        </Text>
      )}
    </Group>
  )
  return (
    <Page title="Audit" actions={<ExportButton window={window} isFiltered={isFiltered} />}>
      <WindowPicker window={window} onChange={(from, to) => setSearch({ from, to })} />
      <FilterBar
        setCount={[knownCategory(search.category), search.type].filter(Boolean).length}
        search={
          <SearchBox
            label="Search"
            placeholder="Actor or target"
            value={search.q ?? ''}
            onChange={(q) => setSearch({ q: q || undefined })}
          />
        }
      >
        <FilterSelect
          label="Category"
          value={search.category}
          choices={categories}
          onChange={(category) => setSearch({ category })}
        />
        <FilterSelect
          label="Action"
          value={search.type}
          choices={types}
          missingLabel={actionName}
          onChange={(type) => setSearch({ type })}
        />
      </FilterBar>
      <Group gap="sm" mih={26}>
        <Text fz="sm" c="dimmed" role="status">
          {query.isSuccess && countText(shown.length, entries.length, hasNextPage)}
        </Text>
        {isFiltered && (
          <Button variant="subtle" size="compact-sm" leftSection={<CrossIcon size={14} />} onClick={clear}>
            Clear filters
          </Button>
        )}
        <Box ml="auto">
          <ViewsMenu page="audit" />
        </Box>
      </Group>
      {query.error && <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && query.isFetching && <Loading />}
      {query.isSuccess && (
        <>
          {shown.length > 0 ? (
            <AuditTable key={`${window.from} ${window.to}`} entries={entries} shown={shown} />
          ) : (
            <NoMatches isFiltered={isFiltered} hasMore={hasNextPage} />
          )}
          {footer}
        </>
      )}
    </Page>
  )
}

interface NoMatchesProps {
  readonly isFiltered: boolean
  /** The period has entries that are not loaded yet. */
  readonly hasMore: boolean
}

const NoMatches = ({ isFiltered, hasMore }: NoMatchesProps) =>
  isFiltered ? (
    <EmptyState title={hasMore ? 'No matching entries loaded' : 'No matching entries'}>
      {hasMore ? 'Clear the filters or load more entries.' : 'Clear the filters or choose a longer period.'}
    </EmptyState>
  ) : (
    <EmptyState title="No activity in this period">
      All changes are logged here. Choose a longer period to see more.
    </EmptyState>
  )

function countText(shown: number, loaded: number, hasMore: boolean): string {
  const all = `${plural(loaded, 'entry', 'entries')}${hasMore ? ' loaded' : ''}`
  return shown === loaded ? all : `${shown.toLocaleString('en-GB')} of ${all}`
}

const typesIn = (entries: readonly AuditLogEntry[]) =>
  [...new Set(entries.map(({ type }) => type))].sort().map((value) => ({ value, label: actionName(value) }))
