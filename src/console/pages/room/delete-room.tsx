// Confirms the deletion of a room, and lists the devices that are unenrolled with it.
import { List, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { placedRoomName } from '../../../contract/fleet/room-name.ts'
import { operationQuery, useWrite } from '../../api.ts'
import { deviceName } from '../../domain/fleet/device/device.ts'
import { itemCount } from '../../domain/fleet/gateway/gateway.ts'
import type { RoomSnapshot } from '../../domain/fleet/room/room.ts'
import { isConcurrentChange } from '../../parts/dialog/concurrent-change.ts'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import { plural } from '../../parts/text/words.ts'

/** The server deletes the items of a gateway with its room without a question, so the dialog says what is lost. [contract 13.rooms] */
function GatewayConsequences({ room: { endpoints } }: Pick<DeleteRoomProps, 'room'>) {
  const hasGateway = endpoints.some(({ kind }) => kind === 'GATEWAY')
  const gateways = useQuery({ ...operationQuery('gatewaysList'), enabled: hasGateway }).data?.body.gateways ?? []
  const ids = new Set(endpoints.map(({ id }) => id))
  const count = gateways.filter(({ id }) => ids.has(id)).reduce((sum, gateway) => sum + itemCount(gateway), 0)
  return (
    <>
      {count > 0 && (
        <Text mt="sm" fw={600}>
          The gateway in this room manages {plural(count, 'device')}, in other rooms too. They go offline, and their
          addresses and passwords are deleted.
        </Text>
      )}
      {endpoints.some(({ via }) => via !== undefined) && (
        <Text mt="sm">
          Devices behind a gateway stay on the gateway’s list. Choose another room for them there to enrol them again.
        </Text>
      )}
    </>
  )
}

interface DeleteRoomProps extends RoomSnapshot {
  readonly opened: boolean
  readonly onClose: () => void
}

export function DeleteRoom({ room, etag, opened, onClose }: DeleteRoomProps) {
  const navigate = useNavigate()
  const write = useWrite('roomsDelete', {
    quiet: true,
    successText: `${placedRoomName(room.name, room.location?.name)} deleted`,
    onDone: () => navigate({ to: '/rooms' }),
  })
  const { endpoints } = room
  const isChanged = isConcurrentChange(write.error)
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title="Delete room"
      verb="Delete room"
      mutation={write}
      {...(isChanged && {
        error: new Error('This room has changed. Check the list below, then delete the room again.'),
      })}
      onConfirm={() => write.mutate({ input: { id: room.id }, ifMatch: etag })}
    >
      <Text style={{ overflowWrap: 'anywhere' }}>
        This deletes <strong>{room.name}</strong>
        {room.location && ` in ${room.location.name}`}, its notes and its enrolment code.
      </Text>
      <GatewayConsequences room={room} />
      {endpoints.length > 0 && (
        <>
          <Text mt="sm">{plural(endpoints.length, 'device')} will be disconnected and must be enrolled again:</Text>
          <List mt={4} mah={220} style={{ overflowY: 'auto' }}>
            {endpoints.map((endpoint) => (
              <List.Item key={endpoint.id}>
                {deviceName(endpoint)}
                {endpoint.connected ? '' : ' (not connected)'}
              </List.Item>
            ))}
          </List>
          <Text mt="sm" c="dimmed" fz="sm">
            To keep a device, move it to another room first.
          </Text>
        </>
      )}
    </ConfirmDialog>
  )
}
