// The rooms page shows a live table of all rooms; the address holds the search and the filters.
import { Stack, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useDeferredValue, useMemo } from 'react'
import { placedRoomName } from '../../../contract/fleet/room-name.ts'
import { errorMessage } from '../../api.ts'
import { useDeviceRows } from '../../domain/fleet/device/device-rows.ts'
import { NewRoomButton } from '../../domain/fleet/room/new-room-button.tsx'
import { defaultRoomSort, isAirSensor, roomMatcher, sortRooms } from '../../domain/fleet/room/room-filter.ts'
import { useRoomRows } from '../../domain/fleet/room/room-rows.ts'
import { GroupSwitch } from '../../domain/fleet/site/group-switch.tsx'
import { groupingOf } from '../../domain/fleet/site/location-group.ts'
import { BulkActions } from '../../domain/jobs/bulk/bulk-actions.tsx'
import { roomsSubject } from '../../domain/jobs/bulk/bulk-subject.ts'
import { roomTarget } from '../../domain/jobs/bulk/bulk-target.ts'
import { ChangeLocation } from '../../domain/jobs/bulk/change-location.tsx'
import { ViewsMenu } from '../../domain/people/view/views-menu.tsx'
import { EmptyState, Page } from '../../parts/page/page.tsx'
import { markEmptyColumns } from '../../parts/table/column.ts'
import { useColumnsInAddress } from '../../parts/table/column-choice.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { parseFilter } from '../../parts/table/filter-value.ts'
import { ResultCount } from '../../parts/table/list-filters.tsx'
import { roomParams } from '../../parts/table/list-params.ts'
import { longTable } from '../../parts/table/long-table.tsx'
import { useRowSelection } from '../../parts/table/row-selection.ts'
import { useSearchParamsUpdate } from '../../parts/table/search-params.ts'
import { formatSort, parseSort } from '../../parts/table/sorting.ts'
import { inGroups } from '../../parts/table/table-items.ts'
import { usePermissions } from '../../session.ts'
import { roomColumns } from './room-columns.tsx'
import { RoomFilters } from './room-filters.tsx'

const route = getRouteApi('/rooms')
type Search = ReturnType<typeof route.useSearch>

export function RoomsPage() {
  const { rows, air, airError } = useRoomRows()
  const devices = useDeviceRows()
  const may = usePermissions()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = useSearchParamsUpdate<Search>(navigate)

  const columnsInAddress = useColumnsInAddress(search, change)

  const deferredSearch = useDeferredValue(search)
  const sort = useMemo(() => parseSort(deferredSearch.sort, defaultRoomSort), [deferredSearch.sort])
  // Rows are sorted before they are filtered, so that typing a letter does not sort ten thousand rows.
  const groupOf = groupingOf(deferredSearch.group)
  const ordered = useMemo(() => {
    const sorted = sortRooms(rows, sort)
    return groupOf ? inGroups(sorted, groupOf) : sorted
  }, [rows, sort, groupOf])
  const shown = useMemo(() => ordered.filter(roomMatcher(deferredSearch)), [ordered, deferredSearch])
  const columns = useMemo(
    () =>
      markEmptyColumns(
        roomColumns([...parseFilter(deferredSearch.air).values, sort.by].filter(isAirSensor), rows),
        rows,
      ),
    [deferredSearch.air, sort.by, rows],
  )
  const selection = useRowSelection(
    'rooms',
    useMemo(() => shown.map(({ id }) => id), [shown]),
  )

  // Rows that the filters hide stay selected; deleted rows are gone.
  const selected = useMemo(() => ordered.filter(({ id }) => selection.keys.has(id)), [ordered, selection.keys])

  const isFiltered = roomParams.some((name) => search[name] !== undefined)
  const clear = useCallback(
    () =>
      void navigate({
        search: ({ sort, group }) => ({ ...(sort && { sort }), ...(group && { group }) }),
        replace: true,
      }),
    [navigate],
  )

  // The memo keeps the table from rendering for every letter that is typed.
  const isLoadingAir = air === 'loading' && deferredSearch.air !== undefined
  const table = useMemo(
    () => (
      <DataTable
        label="Rooms"
        rows={shown}
        columns={columns}
        keyOf={({ id }) => id}
        sort={sort}
        onSort={(next) => change({ sort: formatSort(next, defaultRoomSort) })}
        columnsInAddress={columnsInAddress}
        long={longTable({
          list: 'rooms',
          groupOf,
          buttons: (chosen) => (
            <>
              <GroupSwitch group={deferredSearch.group} onChange={(group) => change({ group })} />
              <ViewsMenu page="rooms" chosenColumns={chosen} />
            </>
          ),
          summary: (
            <ResultCount shown={shown.length} all={rows.length} one="room" onClear={isFiltered ? clear : undefined} />
          ),
          selection: {
            rows: selection,
            nameOf: ({ name, location }) => placedRoomName(name, location?.name),
            selected,
            actions: (
              <>
                <BulkActions
                  rows="rooms"
                  devices={devices.filter(({ roomId }) => roomId !== undefined && selection.keys.has(roomId))}
                  subject={roomsSubject(selected)}
                  targetOf={() =>
                    roomTarget(
                      selected.map(({ id }) => id),
                      devices,
                    )
                  }
                  onDone={selection.clear}
                />
                <ChangeLocation rooms={selected} onDone={selection.clear} />
              </>
            ),
          },
        })}
        empty={isFiltered ? <NoMatches isLoadingAir={isLoadingAir} /> : <NoRooms mayWrite={may.write} />}
      />
    ),
    [
      rows,
      shown,
      columns,
      columnsInAddress,
      selection,
      selected,
      devices,
      sort,
      groupOf,
      deferredSearch.group,
      change,
      isFiltered,
      clear,
      isLoadingAir,
      may.write,
    ],
  )

  return (
    <Page title="Rooms" actions={<NewRoomButton location={search.location} />}>
      <Stack gap="xs">
        <RoomFilters rows={rows} filter={search} onChange={change} />
        {air === 'failed' && (
          <Text fz="sm" c="var(--rk-offline)" role="alert">
            Air quality could not be loaded. {errorMessage(airError)}
          </Text>
        )}
        {table}
      </Stack>
    </Page>
  )
}

const NoMatches = ({ isLoadingAir }: { readonly isLoadingAir: boolean }) =>
  isLoadingAir ? (
    <EmptyState title="Loading air quality…" />
  ) : (
    <EmptyState title="No rooms match these filters">Change the search or clear the filters.</EmptyState>
  )

const NoRooms = ({ mayWrite }: { readonly mayWrite: boolean }) => (
  <EmptyState title="No rooms yet">
    {mayWrite ? 'Create a room to get its enrolment code.' : 'Ask an admin to create the first room.'}
  </EmptyState>
)
