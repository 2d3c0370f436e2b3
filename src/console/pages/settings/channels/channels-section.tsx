// Lists the notification channels with their state; each has a view with its deliveries. [contract 10.channel]
import { Button, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { maxChannels } from '../../../../contract/channels/channels.ts'
import { operationQuery } from '../../../api.ts'
import { PlusIcon } from '../../../parts/page/icons.tsx'
import { EmptyState, Section } from '../../../parts/page/page.tsx'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import { kindNames, type ListedChannel, targetText } from './channel.ts'
import { NewChannelDialog } from './channel-dialogs.tsx'
import { ChannelStateLabel } from './channel-state.tsx'
import { ChannelView } from './channel-view.tsx'

/** No event says that a message was delivered or a channel disabled, so the list is read again this often. */
const refetchMs = 5000
const route = getRouteApi('/settings')

export function ChannelsSection() {
  const { channels } = useSuspenseQuery({ ...operationQuery('channelsList'), refetchInterval: refetchMs }).data.body
  const { channel: channelId } = route.useSearch()
  const [opened, { open, close }] = useDisclosure(false)
  const chosen = channels.find(({ id }) => id === channelId)
  if (chosen) return <ChannelView key={chosen.id} channel={chosen} />
  return (
    <Section
      title="Notifications"
      actions={
        <Button size="xs" leftSection={<PlusIcon size={16} />} onClick={open} disabled={channels.length >= maxChannels}>
          New channel
        </Button>
      }
    >
      <Text fz="sm" c="dimmed" mb="sm">
        Channels send messages about incidents and events to people and other systems. Nothing is lost while a receiver
        is down: messages are kept and retried for 30 days.
      </Text>
      {channelId !== undefined && (
        <Text fz="sm" role="status" mb="sm">
          This channel no longer exists.
        </Text>
      )}
      {channels.length === 0 ? (
        <EmptyState title="No channels yet">
          Create a channel to send incidents by e-mail, to Teams, Slack or PagerDuty, or to a system of your own.
        </EmptyState>
      ) : (
        <DataTable label="Channels" rows={channels} columns={columns} keyOf={({ id }) => id} minWidthPx={760} />
      )}
      <NewChannelDialog opened={opened} onClose={close} />
    </Section>
  )
}

const columns: readonly Column<ListedChannel>[] = [
  {
    id: 'name',
    title: 'Name',
    breaksWords: true,
    sortValue: ({ name }) => name.toLowerCase(),
    cell: ({ id, name }) => (
      <Link to="/settings" search={{ tab: 'notifications', channel: id }}>
        {name}
      </Link>
    ),
  },
  { id: 'kind', title: 'Kind', sortValue: ({ kind }) => kindNames[kind], cell: ({ kind }) => kindNames[kind] },
  { id: 'receiver', title: 'Receiver', breaksWords: true, cell: targetText },
  { id: 'state', title: 'State', inCard: 'corner', cell: (channel) => <ChannelStateLabel channel={channel} /> },
  {
    id: 'waiting',
    title: 'Waiting',
    isNumber: true,
    sortValue: ({ waiting }) => waiting,
    cell: ({ waiting }) => waiting.toLocaleString('en-GB'),
  },
  {
    id: 'delivered',
    title: 'Last delivered',
    sortValue: ({ lastDeliveredAt }) => (lastDeliveredAt ? Date.parse(lastDeliveredAt) : null),
    cell: ({ lastDeliveredAt }) => (lastDeliveredAt ? <DateTime at={lastDeliveredAt} /> : 'Never'),
  },
]
