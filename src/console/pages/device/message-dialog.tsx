// Writes a message to the screen of a device, and of those paired with it.
import { Checkbox, Modal, Text } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api.ts'
import { deviceName } from '../../domain/device/device.ts'
import { MessageForm } from '../../domain/device/message-form.tsx'
import { plural } from '../../parts/text/words.ts'
import type { DialogProps } from './reboot-dialog.tsx'

export const MessageDialog = (props: DialogProps) => (
  <Modal opened={props.opened} onClose={props.onClose} title={`Message to ${deviceName(props.device)}`}>
    <MessageToDevice {...props} />
  </Modal>
)

function MessageToDevice({ device, pair: { others }, onClose }: DialogProps) {
  const [toAll, setToAll] = useState(false)
  const receivers = toAll ? [device, ...others] : [device]
  const offline = receivers.filter(({ connected }) => !connected)
  const endpointIds = receivers.map(({ id }) => id)
  const write = useWrite('endpointsSendMessage', {
    quiet: true,
    successText: ({ operations }) =>
      `The message is on its way to ${plural(operations.length, 'device')}. Operations shows how far it is.`,
    onDone: onClose,
  })
  return (
    <MessageForm
      verb="Send message"
      isBusy={write.isPending}
      error={write.error}
      onSend={(message) => write.mutate({ input: { body: { message, endpointIds } } })}
      onCancel={onClose}
    >
      {others.length > 0 && (
        <Checkbox
          label={`Also on ${others.map(deviceName).join(', ')}`}
          description="Paired with this device."
          checked={toAll}
          onChange={(event) => setToAll(event.currentTarget.checked)}
        />
      )}
      {offline.length > 0 && (
        <Text fz="sm" c="var(--rk-degraded)">
          {offline.map(deviceName).join(', ')} {offline.length === 1 ? 'is' : 'are'} offline: the message is shown there
          on return within 5 minutes, else not at all.
        </Text>
      )}
    </MessageForm>
  )
}
