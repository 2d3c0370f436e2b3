// Says what a restart does to one device: it restarts, ends a call, or is skipped or waits because it is offline.
import { Text } from '@mantine/core'
import { callText, type ListedDevice } from './device.ts'

interface RestartOutcomeProps {
  readonly device: ListedDevice
  /** The restart waits until this device is online. */
  readonly isAwaited?: boolean
}

export function RestartOutcome({ device: { connected, inCallStatus }, isAwaited = false }: RestartOutcomeProps) {
  const call = callText(inCallStatus)
  if (!connected) {
    return (
      <Text span fz="sm" c="dimmed">
        {isAwaited ? 'is offline and will restart when it is back' : 'is offline and will be skipped'}
      </Text>
    )
  }
  if (!call) return 'will restart'
  return (
    <Text span fz="sm" c="var(--rk-degraded)" fw={550}>
      will restart (now {call})
    </Text>
  )
}
