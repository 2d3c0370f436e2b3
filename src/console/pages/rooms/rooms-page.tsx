// The rooms page shows a live table of all rooms; the address holds the search and the filters.
import { Stack, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { getRouteApi } from '@tanstack/react-router'
import { useDeferredValue, useMemo } from 'react'
import { sentenceOf } from '../../api.ts'
import type { AirSensor } from '../../domain/air/air.ts'
import { NewRoomButton } from '../../domain/room/new-room.tsx'
import { isAirSensor, type RoomFilter, roomTest, sortRooms, usualSort } from '../../domain/room/room-filter.ts'
import { useRoomRows } from '../../domain/room/room-rows.ts'
import { Empty, Page } from '../../parts/page/page.tsx'
import { useAddressChange } from '../../parts/table/list-address.ts'
import { Found } from '../../parts/table/list-filters.tsx'
import { sortFrom, sortText } from '../../parts/table/sorting.ts'
import { VirtualTable } from '../../parts/table/virtual-table.tsx'
import { useMay } from '../../session.ts'
import { roomColumns } from './room-columns.tsx'
import { RoomFilters } from './room-filters.tsx'

const route = getRouteApi('/rooms')
type Search = ReturnType<typeof route.useSearch>
const defaultAirSensors: readonly AirSensor[] = ['co2', 'temp']

export function RoomsPage() {
  const { rows, air, airError } = useRoomRows()
  const may = useMay()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const isWide = useMediaQuery('(min-width: 75em)', undefined, { getInitialValueInEffect: false })
  const change = useAddressChange<Search>(navigate)

  const deferredSearch = useDeferredValue(search)
  const sort = useMemo(() => sortFrom(deferredSearch.sort, usualSort), [deferredSearch.sort])
  // Rows are sorted before they are filtered, so that typing a letter does not sort ten thousand rows.
  const ordered = useMemo(() => sortRooms(rows, sort), [rows, sort])
  const shown = useMemo(() => ordered.filter(roomTest(deferredSearch)), [ordered, deferredSearch])
  const columns = useMemo(() => {
    const requested = [deferredSearch.air, sort.by].filter(isAirSensor)
    return roomColumns(isWide ? [...defaultAirSensors, ...requested] : requested, isWide)
  }, [deferredSearch.air, sort.by, isWide])

  const isFiltered = filterNames.some((name) => search[name] !== undefined)
  const clear = () =>
    void navigate({ search: ({ sort: current }) => (current ? { sort: current } : {}), replace: true })

  // The memo keeps the table from rendering for every letter that is typed.
  const isLoadingAir = air === 'asked' && deferredSearch.air !== undefined
  const table = useMemo(
    () => (
      <VirtualTable
        label="Rooms"
        rows={shown}
        columns={columns}
        keyOf={(row) => row.id}
        sort={sort}
        onSort={(next) => change({ sort: sortText(next, usualSort) })}
        empty={isFiltered ? <NoMatches isLoadingAir={isLoadingAir} /> : <NoRooms mayWrite={may.write} />}
      />
    ),
    [shown, columns, sort, change, isFiltered, isLoadingAir, may.write],
  )

  return (
    <Page title="Rooms" actions={<NewRoomButton location={search.location} />}>
      <Stack gap="xs">
        <RoomFilters filter={search} onChange={change} />
        <Found shown={shown.length} all={rows.length} one="room" onClear={isFiltered ? clear : undefined} />
        {air === 'failed' && (
          <Text fz="sm" c="var(--rk-offline)" role="alert">
            Air quality could not be loaded. {sentenceOf(airError)}
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
] as const satisfies readonly (keyof RoomFilter)[]

const NoMatches = ({ isLoadingAir }: { readonly isLoadingAir: boolean }) =>
  isLoadingAir ? (
    <Empty title="Loading air quality…" />
  ) : (
    <Empty title="No rooms match your filters">Change the search or clear the filters.</Empty>
  )

const NoRooms = ({ mayWrite }: { readonly mayWrite: boolean }) => (
  <Empty title="No rooms yet">
    {mayWrite ? 'Create a room to get its enrolment code.' : 'Ask an administrator to create the first room.'}
  </Empty>
)
