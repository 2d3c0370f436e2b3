// Says what a restart does to one device: it restarts, ends a call, waits for the device to come back, or is skipped.
import { Text } from '@mantine/core'
import { callText, hasAction, type ListedDevice, predicateOf } from './device.ts'

interface RestartOutcomeProps {
  readonly device: ListedDevice
  /** The restart waits until this device is online. */
  readonly isAwaited?: boolean
}

export function RestartOutcome({ device, isAwaited = false }: RestartOutcomeProps) {
  const { connected, inCallStatus } = device
  const call = callText(inCallStatus)
  if (!hasAction(device, 'reboot')) {
    return (
      <Text span fz="sm" c="dimmed">
        cannot be restarted remotely and will be skipped
      </Text>
    )
  }
  if (!connected) {
    return (
      <Text span fz="sm" c="dimmed">
        {predicateOf(device)} and will {isAwaited ? 'restart when it is back' : 'be skipped'}
      </Text>
    )
  }
  if (!call) return 'will restart'
  return (
    <Text span fz="sm" c="var(--rk-degraded)" fw={500}>
      will restart (now {call})
    </Text>
  )
}
