// The rooms that need somebody: where, what is wrong, since when.
import { Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { operationQuery } from '../../api.ts'
import { deviceName } from '../../domain/device/device.ts'
import { type RoomDetails, roomTimeZone } from '../../domain/room/room.ts'
import { needsAttention, roomNeedsAttention } from '../../domain/room/room-filter.ts'
import type { RoomTableRow } from '../../domain/room/room-rows.ts'
import { RoomStateLabel } from '../../domain/room/room-state.tsx'
import { CheckIcon } from '../../parts/page/icons.tsx'
import { EmptyState, Section } from '../../parts/page/page.tsx'
import { compareText } from '../../parts/text/search-text.ts'
import { Timestamp } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'
import { useSession } from '../../session.ts'
import classes from './overview.module.css'

const mostShown = 8

export function NeedSection({ rows }: { readonly rows: readonly RoomTableRow[] }) {
  const needing = useMemo(() => rows.filter(roomNeedsAttention).sort(worstFirst), [rows])
  const shown = needing.slice(0, mostShown)
  // The list does not say since when; the few rooms that are shown are asked themselves.
  const details = useQueries({ queries: shown.map(({ id }) => operationQuery('roomsGet', { id })) })
  return (
    <Section title="Rooms that need somebody">
      {shown.length === 0 ? (
        <EmptyState title="None.">
          <CheckIcon /> Every device is connected and has taken its config.
        </EmptyState>
      ) : (
        <ul className={classes.list}>
          {shown.map((row, index) => (
            <NeedyRoom key={row.id} row={row} room={details[index]?.data?.body} />
          ))}
        </ul>
      )}
      {needing.length > mostShown && (
        <Text fz="sm" mt="sm">
          <Link to="/rooms" search={{ state: needsAttention }}>
            All {plural(needing.length, 'room')}
          </Link>
        </Text>
      )}
    </Section>
  )
}

function NeedyRoom({ row, room }: { readonly row: RoomTableRow; readonly room: RoomDetails | undefined }) {
  const { org } = useSession()
  const { why, since, zone } = whyOf(row, room, org.timezone)
  return (
    <li className={classes.needy}>
      <RoomStateLabel state={row.state} />
      <div className={classes.cut}>
        <Link to="/rooms/$roomId" params={{ roomId: String(row.id) }} className={classes.name}>
          {row.name}
        </Link>{' '}
        <Text span c="dimmed" fz="sm">
          {[row.location?.name ?? 'no location', row.region?.name].filter(Boolean).join(', ')}
        </Text>
        <Text fz="sm">
          {why}
          {since !== undefined && (
            <>
              {' '}
              since <Timestamp at={since} zone={zone} />
            </>
          )}
          {row.people ? `, ${plural(row.people, 'person', 'people')} in it now` : ''}
        </Text>
      </div>
    </li>
  )
}

const missing = ({ endpointCount, connectedCount }: RoomTableRow) => endpointCount - connectedCount
const worstFirst = (a: RoomTableRow, b: RoomTableRow) =>
  compareText(b.state, a.state) || missing(b) - missing(a) || compareText(a.sortKey, b.sortKey) || a.id - b.id

interface Why {
  readonly why: string
  readonly since?: number | undefined
  readonly zone?: string | undefined
}

function whyOf(row: RoomTableRow, room: RoomDetails | undefined, orgZone: string): Why {
  const gone = missing(row)
  if (gone === 0) return { why: 'A device has refused its config' }
  const lost = room?.endpoints.filter(({ connected }) => !connected) ?? []
  const times = lost.flatMap(({ connectionTime }) => (connectionTime ? [Date.parse(connectionTime)] : []))
  return {
    why: [offlineWords(row, lost), ...(lost.length > 0 && times.length === 0 ? ['never connected'] : [])].join(', '),
    // The room is offline since the last of them left, degraded since the first.
    since: times.length === 0 ? undefined : row.state === 'OFFLINE' ? Math.max(...times) : Math.min(...times),
    zone: room && roomTimeZone(room, orgZone),
  }
}

function offlineWords(row: RoomTableRow, lost: RoomDetails['endpoints']): string {
  const [first] = lost
  const name = first && lost.length === 1 ? deviceName(first) : undefined
  if (row.endpointCount === 1) return `${name ?? 'Its only device'} is offline`
  const count = `${missing(row)} of ${row.endpointCount} devices offline`
  return name ? `${count} (${name})` : count
}
