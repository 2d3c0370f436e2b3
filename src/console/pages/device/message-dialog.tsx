// Sends a message to the screen of a device and of its paired devices.
import { Checkbox, Modal, Text } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api.ts'
import { deviceName, hasAction } from '../../domain/fleet/device/device.ts'
import { MessageForm } from '../../domain/fleet/device/message-form.tsx'
import { plural } from '../../parts/text/words.ts'
import type { PairDialogProps } from './pair-dialog-props.ts'

export const MessageDialog = (props: PairDialogProps) => (
  <Modal opened={props.opened} onClose={props.onClose} title={`Send message to ${deviceName(props.device)}`}>
    <DeviceMessageForm {...props} />
  </Modal>
)

function DeviceMessageForm({ device, pair, onClose }: PairDialogProps) {
  const others = pair.others.filter((one) => hasAction(one, 'message'))
  const [toAll, setToAll] = useState(false)
  const receivers = toAll ? [device, ...others] : [device]
  const away = receivers.filter(({ connected }) => !connected)
  const endpointIds = receivers.map(({ id }) => id)
  const write = useWrite('endpointsSendMessage', {
    quiet: true,
    successText: ({ operations }) =>
      `Message sent to ${plural(operations.length, 'device')}. See Operations for delivery.`,
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
          label={`Also send to ${others.map(deviceName).join(', ')}`}
          description="Paired with this device."
          checked={toAll}
          onChange={(event) => setToAll(event.currentTarget.checked)}
        />
      )}
      {away.length > 0 && (
        <Text fz="sm" c="var(--rk-degraded)">
          {away.map(deviceName).join(', ')} {away.length === 1 ? 'is' : 'are'} not connected and will show the message
          only after reconnecting within 5 minutes.
        </Text>
      )}
    </MessageForm>
  )
}
