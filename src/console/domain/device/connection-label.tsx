// The label that shows whether a device is online, offline or being restarted.
import { CheckIcon, CrossIcon } from '../../parts/page/icons.tsx'
import { StatusLabel } from '../../parts/text/status-label.tsx'
import { RestartingLabel } from './restarting-label.tsx'

interface ConnectionLabelProps {
  readonly connected: boolean
  /** The time at which an open restart was asked for. */
  readonly restartingSinceMs: number | undefined
}

export function ConnectionLabel({ connected, restartingSinceMs }: ConnectionLabelProps) {
  if (restartingSinceMs !== undefined) return <RestartingLabel sinceMs={restartingSinceMs} />
  return connected ? (
    <StatusLabel colour="var(--rk-healthy)" icon={<CheckIcon size={16} />}>
      Online
    </StatusLabel>
  ) : (
    <StatusLabel colour="var(--rk-offline)" icon={<CrossIcon size={16} />}>
      Offline
    </StatusLabel>
  )
}
