// The devices page shows a live table of all devices; the address holds the search and the filters.
import { Stack } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useCallback, useDeferredValue, useMemo } from 'react'
import { deviceName } from '../../domain/fleet/device/device.ts'
import { defaultDeviceSort, deviceMatcher, sortDevices, useDeviceRows } from '../../domain/fleet/device/device-rows.ts'
import { GroupSwitch } from '../../domain/fleet/site/group-switch.tsx'
import { groupingOf } from '../../domain/fleet/site/location-group.ts'
import { BulkActions } from '../../domain/jobs/bulk/bulk-actions.tsx'
import { devicesSubject } from '../../domain/jobs/bulk/bulk-subject.ts'
import { deviceTarget } from '../../domain/jobs/bulk/bulk-target.ts'
import { ViewsMenu } from '../../domain/people/view/views-menu.tsx'
import { EmptyState, Page } from '../../parts/page/page.tsx'
import { markEmptyColumns } from '../../parts/table/column.ts'
import { useColumnsInAddress } from '../../parts/table/column-choice.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { ResultCount } from '../../parts/table/list-filters.tsx'
import { deviceParams } from '../../parts/table/list-params.ts'
import { longTable } from '../../parts/table/long-table.tsx'
import { useRowSelection } from '../../parts/table/row-selection.ts'
import { useSearchParamsUpdate } from '../../parts/table/search-params.ts'
import { formatSort, parseSort } from '../../parts/table/sorting.ts'
import { inGroups } from '../../parts/table/table-items.ts'
import { deviceColumns } from './device-columns.tsx'
import { DeviceFilters } from './device-filters.tsx'

const route = getRouteApi('/devices')
type Search = ReturnType<typeof route.useSearch>

export function DevicesPage() {
  const rows = useDeviceRows()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = useSearchParamsUpdate<Search>(navigate)

  const columnsInAddress = useColumnsInAddress(search, change)

  const deferredSearch = useDeferredValue(search)
  const sort = useMemo(() => parseSort(deferredSearch.sort, defaultDeviceSort), [deferredSearch.sort])
  // Rows are sorted before they are filtered, so typing a letter does not sort ten thousand rows.
  const groupOf = groupingOf(deferredSearch.group)
  const ordered = useMemo(() => {
    const sorted = sortDevices(rows, sort)
    return groupOf ? inGroups(sorted, groupOf) : sorted
  }, [rows, sort, groupOf])
  const shown = useMemo(() => ordered.filter(deviceMatcher(deferredSearch)), [ordered, deferredSearch])
  const columns = useMemo(() => markEmptyColumns(deviceColumns(rows), rows), [rows])
  const selection = useRowSelection(
    'devices',
    useMemo(() => shown.map(({ id }) => id), [shown]),
  )

  // Rows that the filters hide stay selected; deleted rows are gone.
  const selected = useMemo(() => ordered.filter(({ id }) => selection.keys.has(id)), [ordered, selection.keys])

  const isFiltered = deviceParams.some((name) => search[name] !== undefined)
  const clear = useCallback(
    () =>
      void navigate({
        search: ({ sort, group }) => ({ ...(sort && { sort }), ...(group && { group }) }),
        replace: true,
      }),
    [navigate],
  )

  // The memo keeps the table from rendering for every letter that is typed.
  const table = useMemo(
    () => (
      <DataTable
        label="Devices"
        rows={shown}
        columns={columns}
        keyOf={({ id }) => id}
        sort={sort}
        onSort={(next) => change({ sort: formatSort(next, defaultDeviceSort) })}
        columnsInAddress={columnsInAddress}
        minWidthPx={860}
        long={longTable({
          list: 'devices',
          groupOf,
          buttons: (chosen) => (
            <>
              <GroupSwitch group={deferredSearch.group} onChange={(group) => change({ group })} />
              <ViewsMenu page="devices" chosenColumns={chosen} />
            </>
          ),
          summary: (
            <ResultCount shown={shown.length} all={rows.length} one="device" onClear={isFiltered ? clear : undefined} />
          ),
          selection: {
            rows: selection,
            nameOf: deviceName,
            selected,
            actions: (
              <BulkActions
                rows="devices"
                devices={selected}
                subject={devicesSubject(selected, deviceName)}
                targetOf={() => deviceTarget(selected, rows)}
                onDone={selection.clear}
              />
            ),
          },
        })}
        empty={
          isFiltered ? (
            <EmptyState title="No devices match these filters">Change the search or clear the filters.</EmptyState>
          ) : (
            <NoDevices />
          )
        }
      />
    ),
    [
      rows,
      shown,
      columns,
      columnsInAddress,
      selection,
      selected,
      sort,
      groupOf,
      deferredSearch.group,
      change,
      isFiltered,
      clear,
    ],
  )

  return (
    <Page title="Devices">
      <Stack gap="xs">
        <DeviceFilters rows={rows} filter={search} onChange={change} />
        {table}
      </Stack>
    </Page>
  )
}

const NoDevices = () => (
  <EmptyState title="No devices yet">
    Open a <Link to="/rooms">room</Link> to get its enrolment code. The <Link to="/">overview</Link> shows how to run a
    simulated fleet.
  </EmptyState>
)
