// The rooms page shows a live table of all rooms; the address holds the search and the filters.
import { Button, Group, Stack, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useDeferredValue, useMemo } from 'react'
import { errorMessage } from '../../api.ts'
import { useDeviceRows } from '../../domain/fleet/device/device-rows.ts'
import { NewRoomButton } from '../../domain/fleet/room/new-room-button.tsx'
import {
  defaultRoomSort,
  isAirSensor,
  type RoomFilter,
  roomMatcher,
  sortRooms,
} from '../../domain/fleet/room/room-filter.ts'
import { useRoomRows } from '../../domain/fleet/room/room-rows.ts'
import { BulkActions } from '../../domain/jobs/bulk/bulk-actions.tsx'
import { roomTarget } from '../../domain/jobs/bulk/bulk-target.ts'
import { ChangeLocation } from '../../domain/jobs/bulk/change-location.tsx'
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

  const deferredSearch = useDeferredValue(search)
  const sort = useMemo(() => parseSort(deferredSearch.sort, defaultRoomSort), [deferredSearch.sort])
  // Rows are sorted before they are filtered, so that typing a letter does not sort ten thousand rows.
  const ordered = useMemo(() => sortRooms(rows, sort), [rows, sort])
  const shown = useMemo(() => ordered.filter(roomMatcher(deferredSearch)), [ordered, deferredSearch])
  const columns = useMemo(
    () => roomColumns([deferredSearch.air, sort.by].filter(isAirSensor)),
    [deferredSearch.air, sort.by],
  )
  const chosen = useColumnChoice('rooms', columns)
  const selection = useRowSelection(useMemo(() => shown.map(({ id }) => id), [shown]))

  // Rows that the filters hide stay selected; deleted rows are gone.
  const selected = useMemo(() => ordered.filter(({ id }) => selection.keys.has(id)), [ordered, selection.keys])

  const isFiltered = filterNames.some((name) => search[name] !== undefined)
  const clear = () =>
    void navigate({ search: ({ sort: current }) => (current ? { sort: current } : {}), replace: true })

  // The memo keeps the table from rendering for every letter that is typed.
  const isLoadingAir = air === 'loading' && deferredSearch.air !== undefined
  const table = useMemo(
    () => (
      <VirtualTable
        label="Rooms"
        rows={shown}
        columns={chosen.shown}
        isCards={chosen.isCards}
        belowPx={chosen.isCards && selection.keys.size > 0 ? 84 : 32}
        selection={{ rows: selection, nameOf: ({ name }) => name }}
        keyOf={(row) => row.id}
        sort={sort}
        onSort={(next) => change({ sort: formatSort(next, defaultRoomSort) })}
        empty={isFiltered ? <NoMatches isLoadingAir={isLoadingAir} /> : <NoRooms mayWrite={may.write} />}
      />
    ),
    [shown, chosen.shown, chosen.isCards, selection, sort, change, isFiltered, isLoadingAir, may.write],
  )

  return (
    <Page title="Rooms" actions={<NewRoomButton location={search.location} />}>
      <Stack gap="xs">
        <RoomFilters rows={rows} filter={search} onChange={change} />
        <Group justify="space-between" gap="xs" wrap="nowrap">
          <ResultCount shown={shown.length} all={rows.length} one="room" onClear={isFiltered ? clear : undefined} />
          {!chosen.isCards && <ColumnMenu columns={columns} chosen={chosen} />}
        </Group>
        {selected.length > 0 && (
          <SelectionBar selection={selection} count={selected.length}>
            <BulkActions
              rows="rooms"
              devices={devices.filter(({ roomId }) => roomId !== undefined && selection.keys.has(roomId))}
              subject={plural(selected.length, 'room')}
              targetOf={() =>
                roomTarget(
                  selected.map(({ id }) => id),
                  devices,
                )
              }
              onDone={selection.clear}
            />
            <ChangeLocation rooms={selected} onDone={selection.clear} />
            <Button variant="subtle" size="compact-sm" onClick={() => exportRows('rooms.csv', chosen.shown, selected)}>
              Export CSV
            </Button>
          </SelectionBar>
        )}
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

const filterNames = [
  'q',
  'region',
  'location',
  'state',
  'air',
  'people',
  'tag',
  'profile',
] as const satisfies readonly (keyof RoomFilter)[]

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
