// Shows a message on every screen of a room.
import { Text } from '@mantine/core'
import { useWrite } from '../../api.ts'
import { MessageForm } from '../../domain/device/message-form.tsx'
import type { RoomDetails } from '../../domain/room/room.ts'
import { plural } from '../../parts/text/words.ts'

export function MessageRoom({ room, onClose }: { readonly room: RoomDetails; readonly onClose: () => void }) {
  const write = useWrite('roomsSendMessage', {
    quiet: true,
    successText: ({ operations }) => `The message is on its way to ${plural(operations.length, 'device')}.`,
    onDone: onClose,
  })
  const offline = room.endpoints.filter(({ connected }) => !connected).length
  return (
    <MessageForm
      verb="Send"
      isBusy={write.isPending}
      error={write.error}
      onSend={(message) => write.mutate({ input: { body: { message, roomIds: [room.id] } } })}
      onCancel={onClose}
      intro={
        <Text fz="sm">
          It is shown on {plural(room.endpoints.length, 'device')} in {room.name}.
          {offline > 0 &&
            ` ${offline} of them ${offline === 1 ? 'is' : 'are'} offline: shown there on return within 5 minutes, else not at all.`}
        </Text>
      }
    />
  )
}
