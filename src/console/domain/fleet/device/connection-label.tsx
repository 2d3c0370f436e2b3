// The label that shows whether a device is online, asleep, offline, not seen, reconnecting or being restarted.
import type { EndpointState } from '../../../../contract/fleet/endpoints.ts'
import { ClockIcon, MoonIcon, OfflineIcon, UnseenIcon } from '../../../parts/page/icons.tsx'
import { StateBadge, type StateLook } from '../../../parts/text/status-label.tsx'
import { RestartingLabel } from './restarting-label.tsx'

interface ConnectionLabelProps {
  readonly state: EndpointState
  readonly hasGateway?: boolean | undefined
  /** The time at which an open restart was asked for. */
  readonly restartingSinceMs: number | undefined
}

const styles: Readonly<Record<EndpointState, StateLook>> = {
  ONLINE: { label: 'Online', tone: 'calm' },
  UNKNOWN: { label: 'Reconnecting', tone: 'quiet', icon: <ClockIcon size={16} /> },
  ASLEEP: { label: 'Asleep', tone: 'quiet', icon: <MoonIcon size={16} /> },
  OFFLINE: { label: 'Offline', tone: 'danger', icon: <OfflineIcon size={16} /> },
}
/** For a device behind a gateway that is away: the device itself can be fine. */
const unseen: StateLook = { label: 'Cannot be seen', tone: 'quiet', icon: <UnseenIcon size={16} /> }

const styleOf = (state: EndpointState, hasGateway = false): StateLook =>
  state === 'UNKNOWN' && hasGateway ? unseen : styles[state]
export const deviceStateName = (state: EndpointState, hasGateway: boolean | undefined): string =>
  styleOf(state, hasGateway).label

export function ConnectionLabel({ state, hasGateway, restartingSinceMs }: ConnectionLabelProps) {
  if (restartingSinceMs !== undefined) return <RestartingLabel sinceMs={restartingSinceMs} />
  return <StateBadge look={styleOf(state, hasGateway)} />
}
