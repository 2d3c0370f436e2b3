// Switches a device on or off. [contract 8.power]
import { Text } from '@mantine/core'
import { useWrite } from '../../api.ts'
import { callText, type DeviceDetails, deviceName, predicateOf } from '../../domain/fleet/device/device.ts'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'

interface PowerDialogProps {
  readonly device: DeviceDetails
  readonly on: boolean
  readonly opened: boolean
  readonly onClose: () => void
}

export function PowerDialog({ device, on, opened, onClose }: PowerDialogProps) {
  const word = on ? 'on' : 'off'
  const power = useWrite('endpointsPower', {
    quiet: true,
    successText: `Switching ${deviceName(device)} ${word}. See Operations for the outcome.`,
    onDone: onClose,
  })
  const call = callText(device.inCallStatus)
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={`Switch ${deviceName(device)} ${word}?`}
      verb={`Switch ${word}`}
      danger={!on}
      blocked={!device.connected}
      mutation={power}
      onConfirm={() => power.mutate({ input: { id: device.id, body: { on } } })}
    >
      <Text fz="sm">
        {device.connected
          ? effectText(on, call)
          : `The device ${predicateOf(device)}, so it cannot be switched ${word} now.`}
      </Text>
    </ConfirmDialog>
  )
}

function effectText(on: boolean, call: string | undefined): string {
  if (on) return 'The device is switched on within 5 minutes.'
  return `The device is switched off within 5 minutes, and can then be offline.${call ? ` It is now ${call}.` : ''}`
}
