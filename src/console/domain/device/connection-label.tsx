// The label that shows whether a device is online.
import { CheckIcon, CrossIcon } from '../../parts/page/icons.tsx'
import { StatusLabel } from '../../parts/text/status-label.tsx'

export const ConnectionLabel = ({ connected }: { readonly connected: boolean }) =>
  connected ? (
    <StatusLabel colour="var(--rk-healthy)" icon={<CheckIcon size={16} />}>
      Online
    </StatusLabel>
  ) : (
    <StatusLabel colour="var(--rk-offline)" icon={<CrossIcon size={16} />}>
      Offline
    </StatusLabel>
  )
