// The state of a room: its label, colour, icon and meaning.
import type { ReactNode } from 'react'
import type { RoomState } from '../../../../contract/fleet/rooms.ts'
import { CheckIcon, ClockIcon, CrossIcon, DotIcon, WarnIcon } from '../../../parts/page/icons.tsx'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
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
    label: 'Reconnecting',
    colour: 'var(--rk-empty)',
    icon: <ClockIcon size={16} />,
    meaning: 'No device can be seen: their server restarted, or their gateway is away.',
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

export const roomStateLabel = (state: RoomState): string => roomStateStyles[state].label
export const roomStateColour = (state: RoomState): string => roomStateStyles[state].colour
export const roomStateIcon = (state: RoomState): ReactNode => roomStateStyles[state].icon
export const roomStateMeaning = (state: RoomState): string => roomStateStyles[state].meaning

interface RoomStateLabelProps {
  readonly state: RoomState
  /** The time at which an open restart in the room was asked for. */
  readonly restartingSinceMs?: number | undefined
}

/** A restart hides that the room is healthy, and no other state. */
export const RoomStateLabel = ({ state, restartingSinceMs }: RoomStateLabelProps) =>
  state === 'HEALTHY' && restartingSinceMs !== undefined ? (
    <RestartingLabel sinceMs={restartingSinceMs} />
  ) : (
    <StatusLabel colour={roomStateStyles[state].colour} icon={roomStateStyles[state].icon}>
      {roomStateStyles[state].label}
    </StatusLabel>
  )
