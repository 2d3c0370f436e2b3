// The audit page shows a live log of changes with their actor, time and target; the newest comes first.
import { Box, Button, Group, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useAuditWindow } from '../../domain/journal/audit/audit-window.ts'
import { ViewsMenu } from '../../domain/people/view/views-menu.tsx'
import { CrossIcon } from '../../parts/page/icons.tsx'
import { EmptyState, ErrorPanel, Page } from '../../parts/page/page.tsx'
import { Loading } from '../../parts/page/skeleton.tsx'
import { auditParams } from '../../parts/table/list-params.ts'
import { useSearchParamsUpdate } from '../../parts/table/search-params.ts'
import { shortTime } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'
import { usePermissions } from '../../session.ts'
import { type AuditLogEntry, entriesPerPage, entryCountOf, useAuditEntries } from './audit-entries.ts'
import { AuditFilters, useEntryFilter } from './audit-filters.tsx'
import { AuditTable } from './audit-table.tsx'
import { ExportButton } from './export-button.tsx'
import { WindowPicker } from './window-picker.tsx'

const route = getRouteApi('/audit')
const noEntries: readonly AuditLogEntry[] = []

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
  const filter = useEntryFilter(search)
  const query = useAuditEntries(window, filter)
  const { entries = noEntries, hasNextPage, isSearching, isFetchingNextPage, readMore } = query
  const setSearch = useSearchParamsUpdate<typeof search>(navigate)
  const isFiltered = auditParams.some((name) => search[name] !== undefined)
  const clear = () => setSearch(Object.fromEntries(auditParams.map((name) => [name, undefined])))
  const lastRead = entries.at(-1)?.timestamp

  return (
    <Page title="Audit" actions={<ExportButton window={window} filter={filter} />}>
      <WindowPicker window={window} onChange={(from, to) => setSearch({ from, to })} />
      <AuditFilters search={search} entries={entries} onChange={setSearch} />
      <Group gap="sm" mih={26}>
        <Text fz="sm" c="dimmed" role="status">
          {isSearching ? 'Searching…' : query.isSuccess && countText(entryCountOf(entries), hasNextPage)}
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
          {entries.length > 0 ? (
            <AuditTable key={`${window.from} ${window.to}`} entries={entries} window={window} />
          ) : (
            !isSearching && <NoMatches isFiltered={isFiltered} hasMore={hasNextPage} />
          )}
          <Group gap="sm">
            {hasNextPage ? (
              <Button variant="default" size="xs" loading={isFetchingNextPage} onClick={readMore}>
                {isFiltered ? 'Search further back' : `Load ${entriesPerPage} more`}
              </Button>
            ) : (
              entries.length > 0 && (
                <Text fz="sm" c="dimmed" data-screen-only>
                  End of list
                </Text>
              )
            )}
            {hasNextPage && lastRead && (
              <Text fz="sm" c="dimmed">
                Back to {shortTime(Date.parse(lastRead))}
              </Text>
            )}
          </Group>
        </>
      )}
    </Page>
  )
}

interface NoMatchesProps {
  readonly isFiltered: boolean
  /** The period has entries that are not read yet. */
  readonly hasMore: boolean
}

const NoMatches = ({ isFiltered, hasMore }: NoMatchesProps) =>
  isFiltered ? (
    <EmptyState title={hasMore ? 'No matching entries so far' : 'No matching entries'}>
      {hasMore ? 'Search further back, or clear the filters.' : 'Clear the filters or choose a longer period.'}
    </EmptyState>
  ) : (
    <EmptyState title="No activity in this period">
      All changes are logged here. Choose a longer period to see more.
    </EmptyState>
  )

const countText = (count: number, hasMore: boolean): string =>
  `${plural(count, 'entry', 'entries')}${hasMore ? ' loaded' : ''}`
