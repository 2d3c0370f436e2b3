// Shows the rooms by state, worst first, and the occupancy as large numbers that link to the rooms.
import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { roomMatcher } from '../../domain/fleet/room/room-filter.ts'
import type { RoomTableRow } from '../../domain/fleet/room/room-rows.ts'
import { type RoomState, RoomStateLabel, roomStateMeaning, roomStates } from '../../domain/fleet/room/room-state.tsx'
import { PeopleIcon } from '../../parts/page/icons.tsx'
import { VisuallyHidden } from '../../parts/page/visually-hidden.tsx'
import { StatusLabel } from '../../parts/text/status-label.tsx'
import { plural } from '../../parts/text/words.ts'
import classes from './overview.module.css'

interface RoomRowsProps {
  readonly rows: readonly RoomTableRow[]
}

export function StateTiles({ rows }: RoomRowsProps) {
  const counts = useMemo(() => {
    const byState = new Map<RoomState, number>()
    for (const { state } of rows) byState.set(state, (byState.get(state) ?? 0) + 1)
    return byState
  }, [rows])
  // Rooms reconnect only after a server restart.
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
        title={roomStateMeaning(state)}
      >
        <RoomStateLabel state={state} />
        <span className={classes.count}>{count.toLocaleString('en-GB')}</span>
        <Text span fz="sm" c="dimmed">
          {count === 1 ? 'room' : 'rooms'}
        </Text>
      </Link>
    )
  })
}

export function PeopleTile({ rows }: RoomRowsProps) {
  const { people, occupiedCount, freeCount } = useMemo(() => {
    const occupied = rows.filter(roomMatcher({ people: 'some' }))
    return {
      people: occupied.reduce((sum, row) => sum + (row.people ?? 0), 0),
      occupiedCount: occupied.length,
      freeCount: rows.filter(roomMatcher({ people: 'none' })).length,
    }
  }, [rows])
  const isKnown = occupiedCount + freeCount > 0
  return (
    <div className={classes.tile}>
      <StatusLabel colour="var(--mantine-color-text)" icon={<PeopleIcon size={16} />}>
        Occupancy now
      </StatusLabel>
      {isKnown ? (
        <>
          <Link to="/rooms" search={{ people: 'some', sort: '-people' }} className={classes.count}>
            {people.toLocaleString('en-GB')}
            <VisuallyHidden> people</VisuallyHidden>
          </Link>
          <Text span fz="sm" c="dimmed">
            in{' '}
            <Link to="/rooms" search={{ people: 'some', sort: '-people' }}>
              {plural(occupiedCount, 'room')}
            </Link>
            ,{' '}
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
