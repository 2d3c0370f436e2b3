// The states of a channel and of a delivery as labels.
import { CancelledIcon, ClockIcon } from '../../../parts/page/icons.tsx'
import { StateBadge, type StateLook, StatusLabel } from '../../../parts/text/status-label.tsx'
import { deliveryStateNames, type ListedChannel, type ListedDelivery } from './channel.ts'

export function ChannelStateLabel({ channel }: { readonly channel: ListedChannel }) {
  if (!channel.enabled) {
    return (
      <StateBadge
        look={
          channel.disabledReason
            ? { label: 'Disabled after errors', tone: 'danger' }
            : { label: 'Disabled', tone: 'quiet', icon: <CancelledIcon size={16} /> }
        }
      />
    )
  }
  return (
    <StateBadge look={channel.lastError ? { label: 'Failing', tone: 'warning' } : { label: 'Enabled', tone: 'calm' }} />
  )
}

const styles: Readonly<Record<ListedDelivery['state'], Omit<StateLook, 'label'>>> = {
  WAITING: { tone: 'quiet', icon: <ClockIcon size={16} /> },
  DELIVERED: { tone: 'calm' },
  GIVEN_UP: { tone: 'danger' },
  CANCELLED: { tone: 'quiet', icon: <CancelledIcon size={16} /> },
}

export const DeliveryStateLabel = ({ state }: Pick<ListedDelivery, 'state'>) => (
  <StatusLabel {...styles[state]} isBadge>
    {deliveryStateNames[state]}
  </StatusLabel>
)
