// The label that shows whether a device is online, asleep, offline, not seen, reconnecting or being restarted.
import type { ReactNode } from 'react'
import type { EndpointState } from '../../../../contract/fleet/endpoints.ts'
import { CheckIcon, ClockIcon, CrossIcon, MoonIcon, UnseenIcon } from '../../../parts/page/icons.tsx'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
import { RestartingLabel } from './restarting-label.tsx'

interface ConnectionLabelProps {
  readonly state: EndpointState
  readonly hasGateway?: boolean | undefined
  /** The time at which an open restart was asked for. */
  readonly restartingSinceMs: number | undefined
}

interface StateStyle {
  readonly label: string
  readonly colour: string
  readonly icon: ReactNode
}
const styles: Readonly<Record<EndpointState, StateStyle>> = {
  ONLINE: { label: 'Online', colour: 'var(--rk-healthy)', icon: <CheckIcon size={16} /> },
  UNKNOWN: { label: 'Reconnecting', colour: 'var(--rk-empty)', icon: <ClockIcon size={16} /> },
  ASLEEP: { label: 'Asleep', colour: 'var(--rk-empty)', icon: <MoonIcon size={16} /> },
  OFFLINE: { label: 'Offline', colour: 'var(--rk-offline)', icon: <CrossIcon size={16} /> },
}
/** For a device behind a gateway that is away: the device itself can be fine. */
const unseen: StateStyle = { label: 'Cannot be seen', colour: 'var(--rk-empty)', icon: <UnseenIcon size={16} /> }

const styleOf = (state: EndpointState, hasGateway = false): StateStyle =>
  state === 'UNKNOWN' && hasGateway ? unseen : styles[state]
export const deviceStateName = (state: EndpointState, hasGateway: boolean | undefined): string =>
  styleOf(state, hasGateway).label

export function ConnectionLabel({ state, hasGateway, restartingSinceMs }: ConnectionLabelProps) {
  if (restartingSinceMs !== undefined) return <RestartingLabel sinceMs={restartingSinceMs} />
  const { label, colour, icon } = styleOf(state, hasGateway)
  return (
    <StatusLabel colour={colour} icon={icon}>
      {label}
    </StatusLabel>
  )
}
