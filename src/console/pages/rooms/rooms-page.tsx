// The rooms page shows a live table of all rooms; the address holds the search and the filters.
import { Stack, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { getRouteApi } from '@tanstack/react-router'
import { useDeferredValue, useMemo } from 'react'
import { errorMessage } from '../../api.ts'
import type { AirSensor } from '../../domain/air/air.ts'
import { NewRoomButton } from '../../domain/room/new-room-button.tsx'
import { defaultRoomSort, isAirSensor, type RoomFilter, roomMatcher, sortRooms } from '../../domain/room/room-filter.ts'
import { useRoomRows } from '../../domain/room/room-rows.ts'
import { EmptyState, Page } from '../../parts/page/page.tsx'
import { ResultCount } from '../../parts/table/list-filters.tsx'
import { useSearchParamsUpdate } from '../../parts/table/search-params.ts'
import { formatSort, parseSort } from '../../parts/table/sorting.ts'
import { VirtualTable } from '../../parts/table/virtual-table.tsx'
import { usePermissions } from '../../session.ts'
import { roomColumns } from './room-columns.tsx'
import { RoomFilters } from './room-filters.tsx'

const route = getRouteApi('/rooms')
type Search = ReturnType<typeof route.useSearch>
const defaultAirSensors: readonly AirSensor[] = ['co2', 'temp']

export function RoomsPage() {
  const { rows, air, airError } = useRoomRows()
  const may = usePermissions()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const isWide = useMediaQuery('(min-width: 75em)', undefined, { getInitialValueInEffect: false })
  const change = useSearchParamsUpdate<Search>(navigate)

  const deferredSearch = useDeferredValue(search)
  const sort = useMemo(() => parseSort(deferredSearch.sort, defaultRoomSort), [deferredSearch.sort])
  // Rows are sorted before they are filtered, so that typing a letter does not sort ten thousand rows.
  const ordered = useMemo(() => sortRooms(rows, sort), [rows, sort])
  const shown = useMemo(() => ordered.filter(roomMatcher(deferredSearch)), [ordered, deferredSearch])
  const columns = useMemo(() => {
    const requested = [deferredSearch.air, sort.by].filter(isAirSensor)
    return roomColumns(isWide ? [...defaultAirSensors, ...requested] : requested, isWide)
  }, [deferredSearch.air, sort.by, isWide])

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
        columns={columns}
        keyOf={(row) => row.id}
        sort={sort}
        onSort={(next) => change({ sort: formatSort(next, defaultRoomSort) })}
        empty={isFiltered ? <NoMatches isLoadingAir={isLoadingAir} /> : <NoRooms mayWrite={may.write} />}
      />
    ),
    [shown, columns, sort, change, isFiltered, isLoadingAir, may.write],
  )

  return (
    <Page title="Rooms" actions={<NewRoomButton location={search.location} />}>
      <Stack gap="xs">
        <RoomFilters filter={search} onChange={change} />
        <ResultCount shown={shown.length} all={rows.length} one="room" onClear={isFiltered ? clear : undefined} />
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
] as const satisfies readonly (keyof RoomFilter)[]

const NoMatches = ({ isLoadingAir }: { readonly isLoadingAir: boolean }) =>
  isLoadingAir ? (
    <EmptyState title="Loading air quality…" />
  ) : (
    <EmptyState title="No rooms match your filters">Change the search or clear the filters.</EmptyState>
  )

const NoRooms = ({ mayWrite }: { readonly mayWrite: boolean }) => (
  <EmptyState title="No rooms yet">
    {mayWrite ? 'Create a room to get its enrolment code.' : 'Ask an administrator to create the first room.'}
  </EmptyState>
)
