// Shows the rooms by state, worst first, and the occupancy as large numbers that link to the rooms, each with a line of the last 24 hours.
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { minuteMs } from '../../../contract/durations.ts'
import { operationQuery } from '../../api.ts'
import { roomMatcher } from '../../domain/fleet/room/room-filter.ts'
import type { RoomTableRow } from '../../domain/fleet/room/room-rows.ts'
import {
  type RoomState,
  RoomStateLabel,
  roomStateLabel,
  roomStateMeaning,
  roomStates,
} from '../../domain/fleet/room/room-state.tsx'
import { Sparkline } from '../../parts/chart/sparkline.tsx'
import { PeopleIcon } from '../../parts/page/icons.tsx'
import { VisuallyHidden } from '../../parts/page/visually-hidden.tsx'
import { StatusLabel } from '../../parts/text/status-label.tsx'
import { plural } from '../../parts/text/words.ts'
import classes from './overview.module.css'

interface RoomRowsProps {
  readonly rows: readonly RoomTableRow[]
}

/** The answer has whole quarters of an hour, and its cost does not justify a read for every event. */
const lastDayRefetchMs = 5 * minuteMs

/** Undefined until it is loaded; without it the numbers stand alone. */
const useLastDay = () => useQuery({ ...operationQuery('reportsLastDay'), refetchInterval: lastDayRefetchMs }).data?.body

/** Thin lines have the colour of text: the fill of degraded has too little contrast. */
const lineColours: Partial<Record<RoomState, string>> = { OFFLINE: 'var(--rk-offline)', DEGRADED: 'var(--rk-degraded)' }

export function StateTiles({ rows }: RoomRowsProps) {
  const lastDay = useLastDay()
  const counts = useMemo(() => {
    const byState = new Map<RoomState, number>()
    for (const { state } of rows) byState.set(state, (byState.get(state) ?? 0) + 1)
    return byState
  }, [rows])
  const isReconnecting = rows.every((row) => row.state !== 'UNKNOWN' || row.isReconnecting)
  // Rooms are unknown only after a server restart, or while a gateway is away.
  const shown = roomStates.filter((state) => state !== 'UNKNOWN' || counts.has(state))
  return shown.map((state) => {
    const count = counts.get(state) ?? 0
    return (
      <Link
        key={state}
        to="/rooms"
        search={{ state }}
        className={classes.tile}
        data-state={count > 0 ? state : undefined}
        title={roomStateMeaning(state, isReconnecting)}
      >
        <RoomStateLabel state={state} isReconnecting={isReconnecting} isQuiet={count === 0} />
        <span className={classes.countWithLine}>
          <span className={classes.count}>{count.toLocaleString('en-GB')}</span>
          {lastDay && (
            <Sparkline
              values={lastDay.rooms[state]}
              label={`${roomStateLabel(state, isReconnecting)} in the last 24 hours`}
              colour={lineColours[state] ?? 'var(--rk-empty)'}
            />
          )}
        </span>
        <Text span fz="sm" c="dimmed">
          {count === 1 ? 'room' : 'rooms'}
        </Text>
      </Link>
    )
  })
}

/** A room whose sensors detect only presence is in use, but adds nothing to the number of people. */
function occupancyOf(rows: RoomRowsProps['rows']) {
  const occupied = rows.filter(roomMatcher({ people: 'some' }))
  const free = rows.filter(roomMatcher({ people: 'none' }))
  const counted = occupied.filter(({ peopleIs }) => peopleIs === undefined)
  return {
    people: counted.reduce((sum, row) => sum + (row.people ?? 0), 0),
    countedRooms: counted.length,
    otherRooms: occupied.length - counted.length,
    freeCount: free.length,
    hasHeadCount: [...occupied, ...free].some(({ peopleIs }) => peopleIs === undefined),
  }
}

export function PeopleTile({ rows }: RoomRowsProps) {
  const { people, countedRooms, otherRooms, freeCount, hasHeadCount } = useMemo(() => occupancyOf(rows), [rows])
  const lastDay = useLastDay()
  const roomsInUse = otherRooms === 1 ? 'room in use' : 'rooms in use'
  const isKnown = countedRooms + otherRooms + freeCount > 0
  return (
    <div className={classes.tile}>
      <StatusLabel tone="plain" icon={<PeopleIcon size={16} />}>
        Occupancy now
      </StatusLabel>
      {isKnown ? (
        <>
          <span className={classes.countWithLine}>
            <Link to="/rooms" search={{ people: 'some', sort: '-people' }} className={classes.count}>
              {(hasHeadCount ? people : otherRooms).toLocaleString('en-GB')}
              <VisuallyHidden>{hasHeadCount ? ' people' : ` ${roomsInUse}`}</VisuallyHidden>
            </Link>
            {lastDay && (
              <Sparkline
                values={hasHeadCount ? lastDay.people : lastDay.roomsInUse}
                label={`${hasHeadCount ? 'People' : 'Rooms in use'} in the last 24 hours`}
                colour="var(--rk-people)"
              />
            )}
          </span>
          <Text span fz="sm" c="dimmed">
            {hasHeadCount && 'in '}
            <Link to="/rooms" search={{ people: 'some', sort: '-people' }}>
              {hasHeadCount ? plural(countedRooms, 'room') : roomsInUse}
            </Link>
            {hasHeadCount && otherRooms > 0 && `, ${otherRooms.toLocaleString('en-GB')} more in use`},{' '}
            <Link to="/rooms" search={{ people: 'none' }}>
              {freeCount.toLocaleString('en-GB')} free
            </Link>
          </Text>
        </>
      ) : (
        <>
          <span className={classes.count}>–</span>
          <Text span fz="sm" c="dimmed">
            No occupancy data
          </Text>
        </>
      )}
    </div>
  )
}
