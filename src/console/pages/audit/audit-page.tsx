// Audit: who did what, when and to what, newest first and live.
import { Button, Group, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useDeferredValue, useMemo } from 'react'
import { useAuditWindow } from '../../domain/audit/audit-window.ts'
import { CrossIcon } from '../../parts/page/icons.tsx'
import { EmptyState, ErrorPanel, Loading, Page } from '../../parts/page/page.tsx'
import { FilterBar, FilterSelect, SearchBox } from '../../parts/table/list-filters.tsx'
import { useSearchParamsUpdate } from '../../parts/table/search-params.ts'
import { humanize, plural } from '../../parts/text/words.ts'
import { type Entry, fitting, pageSize, useEntries } from './audit-entries.ts'
import { AuditTable } from './audit-table.tsx'
import { categoryWords } from './audit-words.ts'
import { ExportButton } from './export-button.tsx'
import { WindowPicker } from './window-picker.tsx'

const route = getRouteApi('/audit')
const nothing: readonly Entry[] = []
const categories = Object.entries(categoryWords).map(([value, label]) => ({ value, label }))

export function AuditPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const window = useAuditWindow(search.from, search.to)
  const asked = useEntries(window)
  const { entries = nothing, hasNextPage, isFetchingNextPage } = asked
  const wanted = useDeferredValue(search)
  const shown = useMemo(() => fitting(entries, wanted), [entries, wanted])
  const types = useMemo(() => typesIn(entries), [entries])
  const set = useSearchParamsUpdate<typeof search>(navigate)
  const isFiltered = search.category !== undefined || search.type !== undefined || Boolean(search.q)
  const clear = () => set({ category: undefined, type: undefined, q: undefined })

  const end = (
    <Group gap="sm">
      {hasNextPage ? (
        <Button variant="default" size="xs" loading={isFetchingNextPage} onClick={() => void asked.fetchNextPage()}>
          Load {pageSize} more
        </Button>
      ) : (
        shown.length > 0 && (
          <Text fz="sm" c="dimmed">
            That is all of this time.
          </Text>
        )
      )}
      {hasNextPage && isFiltered && (
        <Text fz="sm" c="dimmed">
          The filters look at the newest {entries.length.toLocaleString('en-GB')} entries. Older ones are not loaded
          yet.
        </Text>
      )}
    </Group>
  )
  return (
    <Page title="Audit" actions={<ExportButton window={window} isFiltered={isFiltered} />}>
      <WindowPicker window={window} onChange={(from, to) => set({ from, to })} />
      <FilterBar>
        <SearchBox
          label="Search"
          placeholder="Who, or on what"
          value={search.q ?? ''}
          onChange={(q) => set({ q: q || undefined })}
        />
        <FilterSelect
          label="About"
          value={search.category}
          choices={categories}
          onChange={(category) => set({ category })}
        />
        <FilterSelect label="What" value={search.type} choices={types} onChange={(type) => set({ type })} />
      </FilterBar>
      <Group gap="sm" mih={26}>
        <Text fz="sm" c="dimmed" role="status">
          {asked.isSuccess && countWords(shown.length, entries.length, hasNextPage)}
        </Text>
        {isFiltered && (
          <Button variant="subtle" size="compact-sm" leftSection={<CrossIcon size={14} />} onClick={clear}>
            Clear filters
          </Button>
        )}
      </Group>
      {asked.error && <ErrorPanel error={asked.error} onRetry={() => void asked.refetch()} />}
      {asked.isPending && asked.isFetching && <Loading />}
      {asked.isSuccess && (
        <>
          {shown.length > 0 ? (
            <AuditTable key={`${window.from} ${window.to}`} entries={entries} shown={shown} />
          ) : (
            <Nothing isFiltered={isFiltered} isMore={hasNextPage} />
          )}
          {end}
        </>
      )}
    </Page>
  )
}

interface NothingProps {
  readonly isFiltered: boolean
  /** Not all of this time is loaded. */
  readonly isMore: boolean
}

const Nothing = ({ isFiltered, isMore }: NothingProps) =>
  isFiltered ? (
    <EmptyState title={isMore ? 'No loaded entry fits' : 'No entry of this time fits'}>
      {isMore ? 'Clear the filters, or load more of this time.' : 'Clear the filters, or choose a longer time.'}
    </EmptyState>
  ) : (
    <EmptyState title="Nothing happened in this time">
      Every change is written here: who made it, when, and what was before and after. Choose a longer time to see more.
    </EmptyState>
  )

function countWords(shown: number, loaded: number, isMore: boolean): string {
  const all = `${plural(loaded, 'entry', 'entries')}${isMore ? ' loaded' : ''}`
  return shown === loaded ? all : `${shown.toLocaleString('en-GB')} of ${all}`
}

const typesIn = (entries: readonly Entry[]) =>
  [...new Set(entries.map(({ type }) => type))].sort().map((value) => ({ value, label: humanize(value) }))
