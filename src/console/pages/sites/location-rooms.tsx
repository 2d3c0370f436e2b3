// The rooms of a location, those with problems first, with their use and their air of the last 7 days.
import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { shareText } from '../../../contract/reports/figure-texts.ts'
import { defaultRoomSort, roomSortKeys, sortRooms } from '../../domain/fleet/room/room-filter.ts'
import { type RoomTableRow, useRoomRows } from '../../domain/fleet/room/room-rows.ts'
import { RoomStateLabel } from '../../domain/fleet/room/room-state.tsx'
import { peopleText } from '../../domain/sensors/readings.ts'
import { Section } from '../../parts/page/page.tsx'
import { type Column, markEmptyColumns } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { ageText } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'
import type { LastWeek } from './last-week.tsx'

/** The list of rooms has the others. */
const maxShown = 100

interface LocationRoomsProps {
  readonly locationId: number
  readonly week: LastWeek
}

interface RoomOfLocation {
  readonly room: RoomTableRow
  readonly use: number | undefined
  readonly airOutside: number | undefined
  /** The reports have not arrived yet; their columns keep their places. */
  readonly isReading: boolean
}

export function LocationRooms({ locationId, week }: LocationRoomsProps) {
  const { rows } = useRoomRows()
  const useOf = useMemo(() => new Map(week.use?.map(({ room, use }) => [room?.id, use])), [week.use])
  const airOf = useMemo(() => new Map(week.air?.map(({ room, outsideShare }) => [room?.id, outsideShare])), [week.air])
  const isReading = !week.error && !(week.use && week.air)
  const here = useMemo(
    () =>
      sortRooms(
        rows.filter(({ location }) => location?.id === locationId),
        defaultRoomSort,
      ).map((room): RoomOfLocation => ({ room, use: useOf.get(room.id), airOutside: airOf.get(room.id), isReading })),
    [rows, locationId, useOf, airOf, isReading],
  )
  const columns = useMemo(() => markEmptyColumns(roomColumns, here), [here])
  const search = { location: String(locationId) }
  return (
    <Section
      title="Rooms"
      actions={
        <Text span fz="sm">
          <Link to="/rooms" search={search}>
            {here.length > maxShown ? `View all ${plural(here.length, 'room')}` : 'View in the list of rooms'}
          </Link>
        </Text>
      }
    >
      <DataTable
        label="Rooms"
        rows={here.slice(0, maxShown)}
        columns={columns}
        keyOf={({ room }) => room.id}
        minWidthPx={640}
        empty="No rooms in this location yet"
      />
    </Section>
  )
}

const roomColumns: readonly Column<RoomOfLocation>[] = [
  {
    id: 'name',
    title: 'Room',
    breaksWords: true,
    sortValue: ({ room }) => room.sortKey,
    text: ({ room }) => room.name,
    cell: ({ room }) => (
      <Link to="/rooms/$roomId" params={{ roomId: String(room.id) }}>
        {room.name}
      </Link>
    ),
  },
  {
    id: 'state',
    title: 'State',
    inCard: 'corner',
    sortValue: ({ room }) => roomSortKeys.state(room),
    text: ({ room }) => room.state,
    cell: ({ room: { state, isReconnecting, restartingSinceMs } }) => (
      <RoomStateLabel state={state} isReconnecting={isReconnecting} restartingSinceMs={restartingSinceMs} />
    ),
  },
  {
    id: 'since',
    title: 'Since',
    sortValue: ({ room }) => room.sinceMs ?? null,
    text: ({ room: { sinceMs } }) => (sinceMs === undefined ? '' : new Date(sinceMs).toISOString()),
    cell: ({ room: { sinceMs } }) => (sinceMs === undefined ? '' : ageText(sinceMs)),
  },
  {
    id: 'floor',
    title: 'Floor',
    sortValue: ({ room }) => roomSortKeys.floor(room),
    text: ({ room }) => room.floor ?? '',
    cell: ({ room }) => room.floor,
  },
  {
    id: 'people',
    title: 'People',
    isNumber: true,
    sortValue: ({ room }) => room.people ?? null,
    text: ({ room: { people, capacity, freshness } }) =>
      (people !== undefined && freshness.isNow) || capacity !== undefined ? 'known' : '',
    cell: ({ room }) => occupancyText(room),
  },
  {
    id: 'use',
    title: 'Use, 7 days',
    isNumber: true,
    sortValue: ({ use }) => use ?? null,
    width: '120px',
    text: ({ use }) => (use === undefined ? '' : shareText(use)),
    hasValue: ({ use, isReading }) => isReading || use !== undefined,
    cell: ({ use, isReading }) => (isReading ? '…' : shareText(use)),
  },
  {
    id: 'air',
    title: 'Air outside limits',
    isNumber: true,
    sortValue: ({ airOutside }) => airOutside ?? null,
    width: '150px',
    text: ({ airOutside }) => (airOutside === undefined ? '' : shareText(airOutside)),
    hasValue: ({ airOutside, isReading }) => isReading || airOutside !== undefined,
    cell: ({ airOutside, isReading }) => (isReading ? '…' : shareText(airOutside)),
  },
]

/** "3 of 8", "3", "– of 8" or nothing. */
function occupancyText({ people, peopleIs, freshness, capacity }: RoomTableRow): string {
  const now = people === undefined || !freshness.isNow ? undefined : peopleText(people, peopleIs)
  if (capacity === undefined) return now ?? ''
  return `${now ?? '–'} of ${capacity}`
}
