// The devices page shows a live table of all devices; the address holds the search and the filters.
import { Button, Group, Stack } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useDeferredValue, useMemo } from 'react'
import { deviceName } from '../../domain/fleet/device/device.ts'
import {
  type DeviceFilter,
  defaultDeviceSort,
  deviceMatcher,
  sortDevices,
  useDeviceRows,
} from '../../domain/fleet/device/device-rows.ts'
import { BulkActions } from '../../domain/jobs/bulk/bulk-actions.tsx'
import { deviceTarget } from '../../domain/jobs/bulk/bulk-target.ts'
import { EmptyState, Page } from '../../parts/page/page.tsx'
import { ColumnMenu, useColumnChoice } from '../../parts/table/column-choice.tsx'
import { exportRows } from '../../parts/table/export-rows.ts'
import { ResultCount } from '../../parts/table/list-filters.tsx'
import { useRowSelection } from '../../parts/table/row-selection.ts'
import { useSearchParamsUpdate } from '../../parts/table/search-params.ts'
import { SelectionBar } from '../../parts/table/selection-bar.tsx'
import { formatSort, parseSort } from '../../parts/table/sorting.ts'
import { VirtualTable } from '../../parts/table/virtual-table.tsx'
import { plural } from '../../parts/text/words.ts'
import { deviceColumns } from './device-columns.tsx'
import { DeviceFilters } from './device-filters.tsx'

const route = getRouteApi('/devices')
type Search = ReturnType<typeof route.useSearch>

export function DevicesPage() {
  const rows = useDeviceRows()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = useSearchParamsUpdate<Search>(navigate)

  const deferredSearch = useDeferredValue(search)
  const sort = useMemo(() => parseSort(deferredSearch.sort, defaultDeviceSort), [deferredSearch.sort])
  // Rows are sorted before they are filtered, so that typing a letter does not sort ten thousand rows.
  const ordered = useMemo(() => sortDevices(rows, sort), [rows, sort])
  const shown = useMemo(() => ordered.filter(deviceMatcher(deferredSearch)), [ordered, deferredSearch])
  const chosen = useColumnChoice('devices', deviceColumns)
  const selection = useRowSelection(useMemo(() => shown.map(({ id }) => id), [shown]))

  // Rows that the filters hide stay selected; deleted rows are gone.
  const selected = useMemo(() => ordered.filter(({ id }) => selection.keys.has(id)), [ordered, selection.keys])

  const isFiltered = filterNames.some((name) => search[name] !== undefined)
  const clear = () =>
    void navigate({ search: ({ sort: current }) => (current ? { sort: current } : {}), replace: true })

  // The memo keeps the table from rendering for every letter that is typed.
  const table = useMemo(
    () => (
      <VirtualTable
        label="Devices"
        rows={shown}
        columns={chosen.shown}
        isCards={chosen.isCards}
        belowPx={chosen.isCards && selection.keys.size > 0 ? 84 : 32}
        selection={{ rows: selection, nameOf: deviceName }}
        keyOf={(row) => row.id}
        sort={sort}
        onSort={(next) => change({ sort: formatSort(next, defaultDeviceSort) })}
        empty={
          isFiltered ? (
            <EmptyState title="No devices match these filters">Change the search or clear the filters.</EmptyState>
          ) : (
            <NoDevices />
          )
        }
      />
    ),
    [shown, chosen.shown, chosen.isCards, selection, sort, change, isFiltered],
  )

  return (
    <Page title="Devices">
      <Stack gap="xs">
        <DeviceFilters rows={rows} filter={search} onChange={change} />
        <Group justify="space-between" gap="xs" wrap="nowrap">
          <ResultCount shown={shown.length} all={rows.length} one="device" onClear={isFiltered ? clear : undefined} />
          {!chosen.isCards && <ColumnMenu columns={deviceColumns} chosen={chosen} />}
        </Group>
        {selected.length > 0 && (
          <SelectionBar selection={selection} count={selected.length}>
            <BulkActions
              rows="devices"
              devices={selected}
              subject={plural(selected.length, 'device')}
              targetOf={() => deviceTarget(selected, rows)}
              onDone={selection.clear}
            />
            <Button
              variant="subtle"
              size="compact-sm"
              style={{ flex: 'none' }}
              onClick={() => exportRows('devices.csv', chosen.shown, selected)}
            >
              Export CSV
            </Button>
          </SelectionBar>
        )}
        {table}
      </Stack>
    </Page>
  )
}

const filterNames = [
  ...(['q', 'model', 'firmware', 'connected', 'update'] as const),
  ...(['region', 'location', 'profile', 'settings'] as const),
] as const satisfies readonly (keyof DeviceFilter)[]

const NoDevices = () => (
  <EmptyState title="No devices yet">
    Open a <Link to="/rooms">room</Link> to get its enrolment code. The <Link to="/">overview</Link> shows how to run a
    simulated fleet.
  </EmptyState>
)
