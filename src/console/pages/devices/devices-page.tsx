// All devices: found by typing, narrowed by filters that are kept in the address, live.
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

  const wanted = useDeferredValue(search)
  const sort = useMemo(() => parseSort(wanted.sort, defaultDeviceSort), [wanted.sort])
  // Sorted before it is filtered: a letter that is typed must not sort ten thousand rows.
  const ordered = useMemo(() => sortDevices(rows, sort), [rows, sort])
  const shown = useMemo(() => ordered.filter(deviceMatcher(wanted)), [ordered, wanted])
  const columns = useMemo(() => deviceColumns(isWide), [isWide])

  const isFiltered = filters.some((name) => search[name] !== undefined)
  const clear = () => void navigate({ search: ({ sort: kept }) => (kept ? { sort: kept } : {}), replace: true })

  // Drawn anew for other rows only, not for every letter that is typed.
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
            <EmptyState title="No device is like that.">Try fewer words, or clear a filter.</EmptyState>
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

const filters = ['q', 'model', 'firmware', 'connected'] as const satisfies readonly (keyof DeviceFilter)[]

const NoDevices = () => (
  <EmptyState title="No device has enrolled yet.">
    Open a <Link to="/rooms">room</Link>: its page has the code with which a device enrols. The{' '}
    <Link to="/">overview</Link> shows how to start a simulated fleet.
  </EmptyState>
)
