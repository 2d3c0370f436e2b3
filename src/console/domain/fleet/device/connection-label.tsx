// The label that shows whether a device is online, asleep, offline, reconnecting or being restarted.
import type { ReactNode } from 'react'
import type { EndpointState } from '../../../../contract/fleet/endpoints.ts'
import { CheckIcon, ClockIcon, CrossIcon, MoonIcon } from '../../../parts/page/icons.tsx'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
import { RestartingLabel } from './restarting-label.tsx'

interface ConnectionLabelProps {
  readonly state: EndpointState
  /** The time at which an open restart was asked for. */
  readonly restartingSinceMs: number | undefined
}

const styles: Readonly<Record<EndpointState, { label: string; colour: string; icon: ReactNode }>> = {
  ONLINE: { label: 'Online', colour: 'var(--rk-healthy)', icon: <CheckIcon size={16} /> },
  UNKNOWN: { label: 'Reconnecting', colour: 'var(--rk-empty)', icon: <ClockIcon size={16} /> },
  ASLEEP: { label: 'Asleep', colour: 'var(--rk-empty)', icon: <MoonIcon size={16} /> },
  OFFLINE: { label: 'Offline', colour: 'var(--rk-offline)', icon: <CrossIcon size={16} /> },
}
export const deviceStateName = (state: EndpointState): string => styles[state].label

export function ConnectionLabel({ state, restartingSinceMs }: ConnectionLabelProps) {
  if (restartingSinceMs !== undefined) return <RestartingLabel sinceMs={restartingSinceMs} />
  const { label, colour, icon } = styles[state]
  return (
    <StatusLabel colour={colour} icon={icon}>
      {label}
    </StatusLabel>
  )
}
