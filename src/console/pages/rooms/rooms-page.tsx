// All rooms: found by typing, narrowed by filters that are kept in the address, live.
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
const usualAir: readonly AirSensor[] = ['co2', 'temp']

export function RoomsPage() {
  const { rows, air, airError } = useRoomRows()
  const may = usePermissions()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const isWide = useMediaQuery('(min-width: 75em)', undefined, { getInitialValueInEffect: false })
  const change = useSearchParamsUpdate<Search>(navigate)

  const wanted = useDeferredValue(search)
  const sort = useMemo(() => parseSort(wanted.sort, defaultRoomSort), [wanted.sort])
  // Sorted before it is filtered: a letter that is typed must not sort ten thousand rows.
  const ordered = useMemo(() => sortRooms(rows, sort), [rows, sort])
  const shown = useMemo(() => ordered.filter(roomMatcher(wanted)), [ordered, wanted])
  const columns = useMemo(() => {
    const asked = [wanted.air, sort.by].filter(isAirSensor)
    return roomColumns(isWide ? [...usualAir, ...asked] : asked, isWide)
  }, [wanted.air, sort.by, isWide])

  const isFiltered = filters.some((name) => search[name] !== undefined)
  const clear = () => void navigate({ search: ({ sort: kept }) => (kept ? { sort: kept } : {}), replace: true })

  // Drawn anew for other rows only, not for every letter that is typed.
  const isReading = air === 'loading' && wanted.air !== undefined
  const table = useMemo(
    () => (
      <VirtualTable
        label="Rooms"
        rows={shown}
        columns={columns}
        keyOf={(row) => row.id}
        sort={sort}
        onSort={(next) => change({ sort: formatSort(next, defaultRoomSort) })}
        empty={isFiltered ? <NoneFound isReading={isReading} /> : <NoRooms mayWrite={may.write} />}
      />
    ),
    [shown, columns, sort, change, isFiltered, isReading, may.write],
  )

  return (
    <Page title="Rooms" actions={<NewRoomButton location={search.location} />}>
      <Stack gap="xs">
        <RoomFilters filter={search} onChange={change} />
        <ResultCount shown={shown.length} all={rows.length} one="room" onClear={isFiltered ? clear : undefined} />
        {air === 'failed' && (
          <Text fz="sm" c="var(--rk-offline)" role="alert">
            The air of the rooms could not be read. {errorMessage(airError)}
          </Text>
        )}
        {table}
      </Stack>
    </Page>
  )
}

const filters = ['q', 'region', 'location', 'state', 'air', 'people'] as const satisfies readonly (keyof RoomFilter)[]

const NoneFound = ({ isReading }: { readonly isReading: boolean }) =>
  isReading ? (
    <EmptyState title="The air of the rooms is being read." />
  ) : (
    <EmptyState title="No room is like that.">Try fewer words, or clear a filter.</EmptyState>
  )

const NoRooms = ({ mayWrite }: { readonly mayWrite: boolean }) => (
  <EmptyState title="There are no rooms yet.">
    {mayWrite
      ? 'Create the first with “New room”. Its page then shows the code with which devices enrol.'
      : 'Somebody whose key may write can create the first.'}
  </EmptyState>
)
