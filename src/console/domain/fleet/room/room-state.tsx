// The state of a room: its label, colour, icon and meaning.
import type { ReactNode } from 'react'
import type { RoomState } from '../../../../contract/fleet/rooms.ts'
import { ClockIcon, OfflineIcon, UnseenIcon } from '../../../parts/page/icons.tsx'
import { lookIcon, type StateLook, StatusLabel } from '../../../parts/text/status-label.tsx'
import type { ListedDevice } from '../device/device.ts'
import { RestartingLabel } from '../device/restarting-label.tsx'

export { type RoomState, roomStates } from '../../../../contract/fleet/rooms.ts'

interface RoomStateLook extends StateLook {
  readonly meaning: string
}

const roomStateLooks: Record<RoomState, RoomStateLook> = {
  OFFLINE: {
    label: 'Offline',
    tone: 'danger',
    icon: <OfflineIcon size={16} />,
    meaning: 'All devices are offline.',
  },
  DEGRADED: {
    label: 'Degraded',
    tone: 'warning',
    meaning: 'At least one device is offline or rejected its settings.',
  },
  UNKNOWN: {
    label: 'Cannot be seen',
    tone: 'quiet',
    icon: <UnseenIcon size={16} />,
    meaning: 'The gateway of its devices is away, or has just returned.',
  },
  HEALTHY: {
    label: 'Healthy',
    tone: 'calm',
    meaning: 'All devices are online or asleep.',
  },
  EMPTY: {
    label: 'No devices',
    tone: 'quiet',
    meaning: 'No devices are enrolled.',
  },
}

/** UNKNOWN without a gateway: the devices connect again by themselves. */
const reconnecting: RoomStateLook = {
  label: 'Reconnecting',
  tone: 'quiet',
  icon: <ClockIcon size={16} />,
  meaning: 'The server restarted, and no device is back yet.',
}

/** A room that cannot be judged, and of which no device is behind a gateway. */
export const isRoomReconnecting = (state: RoomState, devices: readonly UnseenDevice[]): boolean =>
  state === 'UNKNOWN' &&
  devices.length > 0 &&
  devices.every((device) => device.state !== 'UNKNOWN' || !device.hasGateway)
type UnseenDevice = Pick<ListedDevice, 'state' | 'hasGateway'>

const styleOf = (state: RoomState, isReconnecting: boolean): RoomStateLook =>
  state === 'UNKNOWN' && isReconnecting ? reconnecting : roomStateLooks[state]

/** The colour of the state in a bar. */
export const roomStateFill = (state: RoomState): string => `var(--rk-${state.toLowerCase()}-fill)`
export const roomStateLabel = (state: RoomState, isReconnecting = false): string => styleOf(state, isReconnecting).label
export const roomStateIcon = (state: RoomState, isReconnecting = false): ReactNode =>
  lookIcon(styleOf(state, isReconnecting))
export const roomStateMeaning = (state: RoomState, isReconnecting = false): string =>
  styleOf(state, isReconnecting).meaning

interface RoomStateLabelProps {
  readonly state: RoomState
  readonly isReconnecting?: boolean
  /** The time at which an open restart in the room was asked for. */
  readonly restartingSinceMs?: number | undefined
  /** No room has the state, as in a heading over the number 0. */
  readonly isQuiet?: boolean
}

/** A restart hides that the room is healthy, and no other state. */
export function RoomStateLabel({
  state,
  isReconnecting = false,
  restartingSinceMs,
  isQuiet = false,
}: RoomStateLabelProps) {
  if (state === 'HEALTHY' && restartingSinceMs !== undefined) return <RestartingLabel sinceMs={restartingSinceMs} />
  const { label, tone, icon } = styleOf(state, isReconnecting)
  return (
    <StatusLabel tone={isQuiet ? 'quiet' : tone} icon={lookIcon({ tone, icon })} isBadge>
      {label}
    </StatusLabel>
  )
}
