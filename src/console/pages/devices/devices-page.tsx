// The devices page shows a live table of all devices; the address holds the search and the filters.
import { Stack } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useDeferredValue, useMemo } from 'react'
import {
  type DeviceFilter,
  defaultDeviceSort,
  deviceMatcher,
  sortDevices,
  useDeviceRows,
} from '../../domain/device/device-rows.ts'
import { EmptyState, Page } from '../../parts/page/page.tsx'
import { ResultCount } from '../../parts/table/list-filters.tsx'
import { useSearchParamsUpdate } from '../../parts/table/search-params.ts'
import { formatSort, parseSort } from '../../parts/table/sorting.ts'
import { VirtualTable } from '../../parts/table/virtual-table.tsx'
import { deviceColumns } from './device-columns.tsx'
import { DeviceFilters } from './device-filters.tsx'

const route = getRouteApi('/devices')
type Search = ReturnType<typeof route.useSearch>

export function DevicesPage() {
  const rows = useDeviceRows()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const isWide = useMediaQuery('(min-width: 64em)', undefined, { getInitialValueInEffect: false })
  const change = useSearchParamsUpdate<Search>(navigate)

  const deferredSearch = useDeferredValue(search)
  const sort = useMemo(() => parseSort(deferredSearch.sort, defaultDeviceSort), [deferredSearch.sort])
  // Rows are sorted before they are filtered, so that typing a letter does not sort ten thousand rows.
  const ordered = useMemo(() => sortDevices(rows, sort), [rows, sort])
  const shown = useMemo(() => ordered.filter(deviceMatcher(deferredSearch)), [ordered, deferredSearch])
  const columns = useMemo(() => deviceColumns(isWide), [isWide])

  const isFiltered = filterNames.some((name) => search[name] !== undefined)
  const clear = () =>
    void navigate({ search: ({ sort: current }) => (current ? { sort: current } : {}), replace: true })

  // The memo keeps the table from rendering for every letter that is typed.
  const table = useMemo(
    () => (
      <VirtualTable
        label="Devices"
        rows={shown}
        columns={columns}
        keyOf={(row) => row.id}
        sort={sort}
        onSort={(next) => change({ sort: formatSort(next, defaultDeviceSort) })}
        empty={
          isFiltered ? (
            <EmptyState title="No devices match your filters">Change the search or clear the filters.</EmptyState>
          ) : (
            <NoDevices />
          )
        }
      />
    ),
    [shown, columns, sort, change, isFiltered],
  )

  return (
    <Page title="Devices">
      <Stack gap="xs">
        <DeviceFilters rows={rows} filter={search} onChange={change} />
        <ResultCount shown={shown.length} all={rows.length} one="device" onClear={isFiltered ? clear : undefined} />
        {table}
      </Stack>
    </Page>
  )
}

const filterNames = ['q', 'model', 'firmware', 'connected'] as const satisfies readonly (keyof DeviceFilter)[]

const NoDevices = () => (
  <EmptyState title="No devices yet">
    Open a <Link to="/rooms">room</Link> to get its enrolment code. The <Link to="/">overview</Link> shows how to run a
    simulated fleet.
  </EmptyState>
)
