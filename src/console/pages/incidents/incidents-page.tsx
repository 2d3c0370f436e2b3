// The incidents page has the work list of open incidents, and the silences. The address holds the search and the filters.
import { Stack, Tabs } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useDeferredValue, useMemo } from 'react'
import { BulkIncidents } from '../../domain/incidents/bulk/bulk-incidents.tsx'
import { causeName } from '../../domain/incidents/incident.ts'
import { useRecoveryText } from '../../domain/incidents/recovery.ts'
import { IncidentDialogs, useIncidentTasks } from '../../domain/incidents/work/incident-dialogs.tsx'
import { useCanRestart } from '../../domain/incidents/work/restartable.ts'
import { ViewsMenu } from '../../domain/people/view/views-menu.tsx'
import { EmptyState, LoadingBoundary, Page } from '../../parts/page/page.tsx'
import { markEmptyColumns } from '../../parts/table/column.ts'
import { useColumnsInAddress, useIsCards } from '../../parts/table/column-choice.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { ResultCount } from '../../parts/table/list-filters.tsx'
import { incidentParams } from '../../parts/table/list-params.ts'
import { longTable } from '../../parts/table/long-table.tsx'
import { useRowSelection } from '../../parts/table/row-selection.ts'
import { useSearchParamsUpdate } from '../../parts/table/search-params.ts'
import { formatSort, parseSort } from '../../parts/table/sorting.ts'
import { useNow } from '../../parts/text/now.ts'
import { usePermissions } from '../../session.ts'
import { workListColumns } from './incident-columns.tsx'
import { IncidentFilters } from './incident-filters.tsx'
import {
  causeInAddress,
  defaultIncidentSort,
  hasEndedIncidents,
  sortIncidents,
  useIncidentMatcher,
  useIncidentRows,
} from './incident-rows.ts'
import { SilencesSection } from './silences-section.tsx'

const route = getRouteApi('/incidents')
const minWidthPx = 900
type Search = ReturnType<typeof route.useSearch>

export function IncidentsPage() {
  const { tab } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Page title="Incidents">
      <Tabs
        value={tab === 'silences' ? tab : 'list'}
        onChange={(next) => void navigate({ search: next === 'silences' ? { tab: next } : {}, replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="md" aria-label="Incidents">
          <Tabs.Tab value="list">Incidents</Tabs.Tab>
          <Tabs.Tab value="silences">Silences</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="list">
          <LoadingBoundary>
            <WorkList />
          </LoadingBoundary>
        </Tabs.Panel>
        <Tabs.Panel value="silences">
          <LoadingBoundary>
            <SilencesSection />
          </LoadingBoundary>
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

function WorkList() {
  const { operate } = usePermissions()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = useSearchParamsUpdate<Search>(navigate)
  const isCards = useIsCards(minWidthPx)
  const now = useNow()
  const deferredSearch = useDeferredValue(search)
  const rows = useIncidentRows(deferredSearch)
  const sort = useMemo(
    () => parseSort(deferredSearch.sort, defaultIncidentSort(deferredSearch.state)),
    [deferredSearch.sort, deferredSearch.state],
  )
  const ordered = useMemo(() => sortIncidents(rows, sort), [rows, sort])
  const matches = useIncidentMatcher(deferredSearch, now)
  const shown = useMemo(() => ordered.filter(matches), [ordered, matches])
  const tasks = useIncidentTasks()
  const canRestart = useCanRestart({ enabled: operate })
  const recoveryOf = useRecoveryText(now)
  const hasEnded = hasEndedIncidents(deferredSearch.state)
  const columns = useMemo(
    () =>
      markEmptyColumns(
        workListColumns({ now, isCards, hasEnded, start: operate ? tasks.start : undefined, canRestart, recoveryOf }),
        shown,
      ),
    [now, isCards, hasEnded, operate, tasks.start, canRestart, recoveryOf, shown],
  )
  const selection = useRowSelection(
    'incidents',
    useMemo(() => shown.map(({ incident }) => incident.id), [shown]),
  )
  // Rows that the filters hide stay selected; incidents that have left the list are gone.
  const selected = useMemo(
    () => ordered.filter(({ incident }) => selection.keys.has(incident.id)),
    [ordered, selection.keys],
  )
  const isFiltered = incidentParams.some((name) => search[name] !== undefined)
  const ofCause = rows.find(({ incident }) => causeInAddress(incident) === search.cause)?.incident.cause
  const clear = () =>
    void navigate({ search: ({ sort: current }) => (current ? { sort: current } : {}), replace: true })
  return (
    <Stack gap="xs">
      <IncidentFilters filter={search} causeName={ofCause && causeName(ofCause)} onChange={change} />
      <DataTable
        label="Incidents"
        rows={shown}
        columns={columns}
        keyOf={({ incident }) => incident.id}
        sort={sort}
        onSort={(next) => change({ sort: formatSort(next, defaultIncidentSort(search.state)) })}
        columnsInAddress={useColumnsInAddress(search, change)}
        minWidthPx={minWidthPx}
        long={longTable({
          list: 'incidents',
          buttons: (chosen) => <ViewsMenu page="incidents" chosenColumns={chosen} />,
          rowHeight: 56,
          summary: (
            <ResultCount
              shown={shown.length}
              all={shown.length}
              one="incident"
              onClear={isFiltered ? clear : undefined}
            />
          ),
          selection: operate
            ? {
                rows: selection,
                nameOf: ({ incident }) => incident.title,
                selected,
                actions: (
                  <BulkIncidents
                    incidents={selected.map(({ incident }) => incident)}
                    onDone={(incidents) =>
                      selection.setSome(
                        incidents.map(({ id }) => id),
                        false,
                      )
                    }
                  />
                ),
              }
            : undefined,
        })}
        empty={isFiltered ? <NoMatches /> : <NoIncidents snoozedCount={rows.length} />}
      />
      <IncidentDialogs {...tasks} />
    </Stack>
  )
}

const NoMatches = () => (
  <EmptyState title="No incidents match these filters">Change the search or clear the filters.</EmptyState>
)

/** Without filters the rows are the open incidents, and those that are not shown are snoozed. */
const NoIncidents = ({ snoozedCount }: { readonly snoozedCount: number }) =>
  snoozedCount > 0 ? (
    <EmptyState title="Nothing needs work">
      <Link to="/incidents" search={{ state: 'snoozed' }}>
        {snoozedCount.toLocaleString('en-GB')} snoozed
      </Link>
    </EmptyState>
  ) : (
    <EmptyState title="No open incidents">
      Incidents open automatically when a rule finds a problem. Choose a state to see resolved ones.
    </EmptyState>
  )
