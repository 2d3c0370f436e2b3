// The states of a channel and of a delivery as labels.
import type { ReactNode } from 'react'
import { CheckIcon, ClockIcon, CrossIcon, DotIcon, WarnIcon } from '../../../parts/page/icons.tsx'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
import { deliveryStateNames, type ListedChannel, type ListedDelivery } from './channel.ts'

export function ChannelStateLabel({ channel }: { readonly channel: ListedChannel }) {
  if (!channel.enabled) {
    return (
      <StatusLabel
        colour={channel.disabledReason ? 'var(--rk-offline)' : 'var(--rk-empty)'}
        icon={channel.disabledReason ? <CrossIcon size={16} /> : <DotIcon size={16} />}
      >
        {channel.disabledReason ? 'Disabled after errors' : 'Disabled'}
      </StatusLabel>
    )
  }
  return channel.lastError ? (
    <StatusLabel colour="var(--rk-degraded)" icon={<WarnIcon size={16} />}>
      Failing
    </StatusLabel>
  ) : (
    <StatusLabel colour="var(--rk-healthy)" icon={<CheckIcon size={16} />}>
      Enabled
    </StatusLabel>
  )
}

const styles: Readonly<Record<ListedDelivery['state'], { colour: string; icon: ReactNode }>> = {
  WAITING: { colour: 'var(--rk-degraded)', icon: <ClockIcon size={16} /> },
  DELIVERED: { colour: 'var(--rk-healthy)', icon: <CheckIcon size={16} /> },
  GIVEN_UP: { colour: 'var(--rk-offline)', icon: <CrossIcon size={16} /> },
  CANCELLED: { colour: 'var(--rk-empty)', icon: <DotIcon size={16} /> },
}

export const DeliveryStateLabel = ({ state }: Pick<ListedDelivery, 'state'>) => (
  <StatusLabel colour={styles[state].colour} icon={styles[state].icon}>
    {deliveryStateNames[state]}
  </StatusLabel>
)
