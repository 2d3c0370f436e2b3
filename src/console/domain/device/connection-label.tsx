// Whether a device is connected, as an icon with a label.
import { CheckIcon, CrossIcon } from '../../parts/page/icons.tsx'
import { Mark } from '../../parts/text/status-label.tsx'

export const ConnectedMark = ({ connected }: { readonly connected: boolean }) =>
  connected ? (
    <Mark colour="var(--rk-healthy)" mark={<CheckIcon size={16} />}>
      Connected
    </Mark>
  ) : (
    <Mark colour="var(--rk-offline)" mark={<CrossIcon size={16} />}>
      Offline
    </Mark>
  )
