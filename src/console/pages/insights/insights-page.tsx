// The insights page: how rooms were used, whether they worked and what their air was like, in one window. The address holds all choices.
import { Stack, Tabs, Title } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { LoadingBoundary, Page } from '../../parts/page/page.tsx'
import { useIsPrinting } from '../../parts/table/printed-table.tsx'
import { useSearchParamsUpdate } from '../../parts/table/search-params.ts'
import { AirTab } from './air/air-tab.tsx'
import { AvailabilityTab } from './availability/availability-tab.tsx'
import { IncidentsTab } from './incidents/incidents-tab.tsx'
import { InsightFilters } from './insight-filters.tsx'
import type { InsightView } from './insight-view.ts'
import { type ChangeSearch, parseRooms, reportFilterOf, useInsightWindow } from './report-filter.ts'
import { RoomsAside } from './rooms-aside.tsx'
import { UseTab } from './use/use-tab.tsx'

const route = getRouteApi('/insights')
type Search = ReturnType<typeof route.useSearch>

const tabs = [
  { id: 'use', name: 'Use', content: UseTab },
  { id: 'availability', name: 'Availability', content: AvailabilityTab },
  { id: 'air', name: 'Air', content: AirTab },
  { id: 'incidents', name: 'Incidents', content: IncidentsTab },
] as const

export function InsightsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const update = useSearchParamsUpdate<Search>(navigate)
  // A table that could not be saved is not saved after another choice.
  const change = useCallback<ChangeSearch>((changes) => update({ save: undefined, ...changes }), [update])
  const { window, today } = useInsightWindow(search)
  const view = useMemo<InsightView>(
    () => ({ search, change, window, today, filter: reportFilterOf(search, window) }),
    [search, change, window, today],
  )
  // Paper has no tabs.
  const isPrinting = useIsPrinting()
  const opened = tabs.find(({ id }) => id === search.tab) ?? tabs[0]
  return (
    <Page title="Insights">
      <Stack gap="md">
        <InsightFilters search={search} window={window} today={today} onChange={change} />
        {isPrinting && <Title order={2}>{opened.name}</Title>}
        {parseRooms(search.rooms).length > 0 && <RoomsAside view={view} />}
        <Tabs
          value={opened.id}
          onChange={(id) => change({ tab: id === 'use' || id === null ? undefined : id, behind: undefined })}
          keepMounted={false}
        >
          <Tabs.List mb="md" aria-label="Insights">
            {tabs.map(({ id, name }) => (
              <Tabs.Tab key={id} value={id}>
                {name}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {tabs.map(({ id, content: Content }) => (
            <Tabs.Panel key={id} value={id}>
              <LoadingBoundary>
                <Content view={view} />
              </LoadingBoundary>
            </Tabs.Panel>
          ))}
        </Tabs>
      </Stack>
    </Page>
  )
}
