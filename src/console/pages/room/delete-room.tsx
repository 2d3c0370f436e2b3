// Asks before a room is deleted, and names the devices that lose their place in the service with it.
import { List, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useWrite } from '../../api.ts'
import { deviceName } from '../../domain/device/device.ts'
import type { RoomSnapshot } from '../../domain/room/room.ts'
import { isConcurrentChange } from '../../parts/dialog/concurrent-change.ts'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import { plural } from '../../parts/text/words.ts'

interface DeleteRoomProps extends RoomSnapshot {
  readonly opened: boolean
  readonly onClose: () => void
}

export function DeleteRoom({ room, etag, opened, onClose }: DeleteRoomProps) {
  const navigate = useNavigate()
  const write = useWrite('roomsDelete', {
    quiet: true,
    successText: `${room.name} was deleted.`,
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
        error: new Error('The room changed meanwhile. Look at what is named here, then delete it again.'),
      })}
      onConfirm={() => write.mutate({ input: { id: room.id }, ifMatch: etag })}
    >
      <Text style={{ overflowWrap: 'anywhere' }}>
        <strong>{room.name}</strong>
        {room.location && ` in ${room.location.name}`} will be deleted, with its notes and its enrolment code.
      </Text>
      {endpoints.length > 0 && (
        <>
          <Text mt="sm">
            {plural(endpoints.length, 'device')} will be unenrolled and cut off at once. To use{' '}
            {endpoints.length === 1 ? 'it' : 'one'} again, enrol it in another room:
          </Text>
          <List mt={4} mah={220} style={{ overflowY: 'auto' }}>
            {endpoints.map((endpoint) => (
              <List.Item key={endpoint.id}>
                {deviceName(endpoint)}
                {endpoint.connected ? '' : ' (offline)'}
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
