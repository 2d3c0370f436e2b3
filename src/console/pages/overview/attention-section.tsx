// Lists the rooms that need attention: their state, the problem and its start.
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
import { DateTime } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'
import { useSession } from '../../session.ts'
import classes from './overview.module.css'

const maxRoomsShown = 8

export function AttentionSection({ rows }: { readonly rows: readonly RoomTableRow[] }) {
  const attentionRooms = useMemo(() => rows.filter(roomNeedsAttention).sort(worstFirst), [rows])
  const shown = attentionRooms.slice(0, maxRoomsShown)
  // The list of rooms has no connection times, so the few rooms that are shown are read one by one.
  const details = useQueries({ queries: shown.map(({ id }) => operationQuery('roomsGet', { id })) })
  return (
    <Section title="Needs attention">
      {shown.length === 0 ? (
        <EmptyState title="No open problems">
          <CheckIcon /> All devices are online, and none rejected its settings.
        </EmptyState>
      ) : (
        <ul className={classes.list}>
          {shown.map((row, index) => (
            <AttentionRoom key={row.id} row={row} room={details[index]?.data?.body} />
          ))}
        </ul>
      )}
      {attentionRooms.length > maxRoomsShown && (
        <Text fz="sm" mt="sm">
          <Link to="/rooms" search={{ state: needsAttention }}>
            View all {plural(attentionRooms.length, 'room')}
          </Link>
        </Text>
      )}
    </Section>
  )
}

function AttentionRoom({ row, room }: { readonly row: RoomTableRow; readonly room: RoomDetails | undefined }) {
  const { org } = useSession()
  const { text, sinceMs, zone } = problemOf(row, room, org.timezone)
  return (
    <li className={classes.attentionRoom}>
      <RoomStateLabel state={row.state} />
      <div className={classes.truncated}>
        <Link to="/rooms/$roomId" params={{ roomId: String(row.id) }} className={classes.name}>
          {row.name}
        </Link>{' '}
        <Text span c="dimmed" fz="sm">
          {[row.location?.name ?? 'No location', row.region?.name].filter(Boolean).join(', ')}
        </Text>
        <Text fz="sm">
          {text}
          {sinceMs !== undefined && (
            <>
              {' '}
              since <DateTime at={sinceMs} zone={zone} />
            </>
          )}
          {row.people ? ` · ${plural(row.people, 'person', 'people')} inside` : ''}
        </Text>
      </div>
    </li>
  )
}

const offlineCount = ({ endpointCount, connectedCount }: RoomTableRow) => endpointCount - connectedCount
const worstFirst = (a: RoomTableRow, b: RoomTableRow) =>
  compareText(b.state, a.state) || offlineCount(b) - offlineCount(a) || compareText(a.sortKey, b.sortKey) || a.id - b.id

interface RoomProblem {
  readonly text: string
  readonly sinceMs?: number | undefined
  readonly zone?: string | undefined
}

function problemOf(row: RoomTableRow, room: RoomDetails | undefined, orgZone: string): RoomProblem {
  if (offlineCount(row) === 0) return { text: 'A device rejected its settings' }
  const offlineDevices = room?.endpoints.filter(({ connected }) => !connected) ?? []
  const times = offlineDevices.flatMap(({ connectionTime }) => (connectionTime ? [Date.parse(connectionTime)] : []))
  return {
    text: offlineText(row, offlineDevices, offlineDevices.length > 0 && times.length === 0),
    // A room is offline since its last device disconnected, and degraded since its first one did.
    sinceMs: times.length === 0 ? undefined : row.state === 'OFFLINE' ? Math.max(...times) : Math.min(...times),
    zone: room && roomTimeZone(room, orgZone),
  }
}

function offlineText(row: RoomTableRow, offlineDevices: RoomDetails['endpoints'], hasNeverConnected: boolean): string {
  const [first] = offlineDevices
  const name = first && offlineDevices.length === 1 ? deviceName(first) : undefined
  if (row.endpointCount === 1)
    return `${name ?? 'The only device'} ${hasNeverConnected ? 'has never connected' : 'is offline'}`
  const count = `${offlineCount(row)} of ${row.endpointCount} devices offline${name ? ` (${name})` : ''}`
  return hasNeverConnected ? `${count}, never connected` : count
}
