// Shows which rooms and devices have a profile, and which of them rejected a setting.
import { Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { hasProfilesOfSource } from '../../../contract/fleet/drivers.ts'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { operationQuery, useBody } from '../../api.ts'
import { ConfigStateMark } from '../../domain/fleet/device/config-state-mark.tsx'
import { deviceName } from '../../domain/fleet/device/device.ts'
import { type RoomNameOf, useRoomNames } from '../../domain/fleet/room/room-names.ts'
import { EmptyState, Section } from '../../parts/page/page.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { plural } from '../../parts/text/words.ts'
import { reachText } from './reach-text.ts'

type Reach = ResponseOf<Operations['profilesReach']>
type ReachedRoom = Reach['rooms'][number]
type ReachedDevice = ReachedRoom['endpoints'][number]

/** More rows take a moment to draw, so they are drawn on request. */
const firstShownCount = 100

export function ProfileReach({ id }: { readonly id: number }) {
  const reach = useBody('profilesReach', { id })
  const nameOf = useRoomNames()
  const listed = useQuery(operationQuery('endpointsBasicList')).data?.body.endpoints ?? []
  const [all, setAll] = useState(false)
  const { roomCount, endpointCount, deliveredCount, pendingCount, rejectedCount, notForDeviceCount, rooms } = reach
  const assigned = new Set(rooms.flatMap((room) => (room.assigned ? [room.id] : [])))
  const mirroredCount = listed.filter(
    ({ roomId, sourceType }) => roomId !== undefined && assigned.has(roomId) && hasProfilesOfSource(sourceType),
  ).length
  const shown = all ? rooms : rooms.slice(0, firstShownCount)
  if (roomCount === 0 && endpointCount === 0) {
    return (
      <Section title="Rooms and devices">
        <EmptyState title="No room or device has this profile">
          Open a room or a device and choose “Change profile”.
        </EmptyState>
      </Section>
    )
  }
  return (
    <Section title="Rooms and devices">
      <Text mb="md">
        {reachText(reach)}: {deliveredCount} delivered, {pendingCount} pending, {rejectedCount} rejected.
        {notForDeviceCount > 0 &&
          ` ${plural(notForDeviceCount, 'device does', 'devices do')} not have all of these settings.`}
        {mirroredCount > 0 &&
          ` Not for ${plural(mirroredCount, 'device')} in these rooms: settings and profiles come from Neat Pulse.`}
      </Text>
      <DataTable
        label="Rooms and devices"
        rows={shown}
        columns={columnsOf(nameOf)}
        keyOf={({ id }) => id}
        minWidthPx={520}
      />
      {shown.length < roomCount && (
        <Group mt="sm" gap="sm">
          <Text fz="sm" c="dimmed">
            Showing {shown.length.toLocaleString('en-GB')} of {plural(roomCount, 'room')}; those with rejected settings
            come first.
          </Text>
          {shown.length < rooms.length && (
            <Button size="compact-sm" variant="default" onClick={() => setAll(true)}>
              Show {rooms.length.toLocaleString('en-GB')}
            </Button>
          )}
        </Group>
      )}
    </Section>
  )
}

/** Rooms with rejected settings come first, and not all are shown, so they are not sorted here. */
const columnsOf = (nameOf: RoomNameOf): readonly Column<ReachedRoom>[] => [
  {
    id: 'room',
    title: 'Room',
    breaksWords: true,
    cell: ({ id, name }) => (
      <Link to="/rooms/$roomId" params={{ roomId: String(id) }}>
        {nameOf(id, name)}
      </Link>
    ),
  },
  {
    id: 'assigned',
    title: 'Profile of',
    cell: ({ assigned }) => (assigned ? 'Room and devices' : 'Devices only'),
  },
  {
    id: 'devices',
    title: 'Devices',
    cell: ({ endpoints }) =>
      endpoints.length === 0 ? (
        <Text span inherit c="dimmed">
          No devices
        </Text>
      ) : (
        endpoints.map((device) => <DeviceLine key={device.id} device={device} />)
      ),
  },
]

const DeviceLine = ({ device }: { readonly device: ReachedDevice }) => (
  <div>
    <Group gap="sm" mih={30}>
      <Link to="/devices/$endpointId" params={{ endpointId: device.id }} search={{ tab: 'config' }}>
        {deviceName(device)}
      </Link>
      <ConfigStateMark state={device.state} />
    </Group>
    {device.error !== undefined && (
      <Text fz="xs" c="var(--rk-offline)" style={{ overflowWrap: 'anywhere' }}>
        {device.error}
      </Text>
    )}
  </div>
)
