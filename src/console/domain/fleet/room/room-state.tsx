// The state of a room: its label, colour, icon and meaning.
import type { ReactNode } from 'react'
import type { RoomState } from '../../../../contract/fleet/rooms.ts'
import { CheckIcon, ClockIcon, CrossIcon, DotIcon, UnseenIcon, WarnIcon } from '../../../parts/page/icons.tsx'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
import type { ListedDevice } from '../device/device.ts'
import { RestartingLabel } from '../device/restarting-label.tsx'

export { type RoomState, roomStates } from '../../../../contract/fleet/rooms.ts'

interface RoomStateStyle {
  readonly label: string
  readonly colour: string
  readonly icon: ReactNode
  readonly meaning: string
}

const roomStateStyles: Record<RoomState, RoomStateStyle> = {
  OFFLINE: {
    label: 'Offline',
    colour: 'var(--rk-offline)',
    icon: <CrossIcon size={16} />,
    meaning: 'All devices are offline.',
  },
  DEGRADED: {
    label: 'Degraded',
    colour: 'var(--rk-degraded)',
    icon: <WarnIcon size={16} />,
    meaning: 'At least one device is offline or rejected its settings.',
  },
  UNKNOWN: {
    label: 'Cannot be seen',
    colour: 'var(--rk-empty)',
    icon: <UnseenIcon size={16} />,
    meaning: 'The gateway of its devices is away, or has just returned.',
  },
  HEALTHY: {
    label: 'Healthy',
    colour: 'var(--rk-healthy)',
    icon: <CheckIcon size={16} />,
    meaning: 'All devices are online or asleep.',
  },
  EMPTY: {
    label: 'No devices',
    colour: 'var(--rk-empty)',
    icon: <DotIcon size={16} />,
    meaning: 'No devices are enrolled.',
  },
}

/** UNKNOWN without a gateway: the devices connect again by themselves. */
const reconnecting: RoomStateStyle = {
  label: 'Reconnecting',
  colour: 'var(--rk-empty)',
  icon: <ClockIcon size={16} />,
  meaning: 'The server restarted, and no device is back yet.',
}

/** A room that cannot be judged, and of which no device is behind a gateway. */
export const isRoomReconnecting = (state: RoomState, devices: readonly UnseenDevice[]): boolean =>
  state === 'UNKNOWN' &&
  devices.length > 0 &&
  devices.every((device) => device.state !== 'UNKNOWN' || !device.hasGateway)
type UnseenDevice = Pick<ListedDevice, 'state' | 'hasGateway'>

const styleOf = (state: RoomState, isReconnecting: boolean): RoomStateStyle =>
  state === 'UNKNOWN' && isReconnecting ? reconnecting : roomStateStyles[state]

export const roomStateColour = (state: RoomState): string => roomStateStyles[state].colour
export const roomStateLabel = (state: RoomState, isReconnecting = false): string => styleOf(state, isReconnecting).label
export const roomStateIcon = (state: RoomState, isReconnecting = false): ReactNode =>
  styleOf(state, isReconnecting).icon
export const roomStateMeaning = (state: RoomState, isReconnecting = false): string =>
  styleOf(state, isReconnecting).meaning

interface RoomStateLabelProps {
  readonly state: RoomState
  readonly isReconnecting?: boolean
  /** The time at which an open restart in the room was asked for. */
  readonly restartingSinceMs?: number | undefined
}

/** A restart hides that the room is healthy, and no other state. */
export function RoomStateLabel({ state, isReconnecting = false, restartingSinceMs }: RoomStateLabelProps) {
  if (state === 'HEALTHY' && restartingSinceMs !== undefined) return <RestartingLabel sinceMs={restartingSinceMs} />
  const { label, colour, icon } = styleOf(state, isReconnecting)
  return (
    <StatusLabel colour={colour} icon={icon}>
      {label}
    </StatusLabel>
  )
}
