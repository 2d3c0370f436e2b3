// Sends a message to every screen of a room.
import { Text } from '@mantine/core'
import { placedRoomName } from '../../../contract/fleet/room-name.ts'
import { useWrite } from '../../api.ts'
import { hasAction } from '../../domain/fleet/device/device.ts'
import { MessageForm } from '../../domain/fleet/device/message-form.tsx'
import type { RoomDetails } from '../../domain/fleet/room/room.ts'
import { plural } from '../../parts/text/words.ts'

export function RoomMessageForm({ room, onClose }: { readonly room: RoomDetails; readonly onClose: () => void }) {
  const write = useWrite('roomsSendMessage', {
    quiet: true,
    successText: ({ operations }) =>
      `Message sent to ${plural(operations.filter(({ state }) => state !== 'SKIPPED').length, 'device')}`,
    onDone: onClose,
  })
  const receivers = room.endpoints.filter((device) => hasAction(device, 'message'))
  const awayCount = receivers.filter(({ connected }) => !connected).length
  return (
    <MessageForm
      verb="Send message"
      isBusy={write.isPending}
      error={write.error}
      onSend={(message) => write.mutate({ input: { body: { message, roomIds: [room.id] } } })}
      onCancel={onClose}
      intro={
        <Text fz="sm">
          The message appears on {plural(receivers.length, 'device')} in{' '}
          {placedRoomName(room.name, room.location?.name)}.
          {awayCount > 0 &&
            ` ${plural(awayCount, 'device is', 'devices are')} not connected and will show the message only after reconnecting within 5 minutes.`}
        </Text>
      }
    />
  )
}
