// Lists the notification channels with their state; each has a view with its deliveries. [contract 10.channel]
import { Button, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { maxChannels } from '../../../../contract/channels/channels.ts'
import { operationQuery } from '../../../api.ts'
import { PlusIcon } from '../../../parts/page/icons.tsx'
import { EmptyState, Section } from '../../../parts/page/page.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import { kindNames, targetText } from './channel.ts'
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
        is down: messages wait for up to 30 days.
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
        <Table.ScrollContainer minWidth={760}>
          <Table verticalSpacing="xs" aria-label="Channels">
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">Name</Table.Th>
                <Table.Th scope="col">Kind</Table.Th>
                <Table.Th scope="col">Receiver</Table.Th>
                <Table.Th scope="col">State</Table.Th>
                <Table.Th scope="col" ta="right">
                  Waiting
                </Table.Th>
                <Table.Th scope="col">Last delivered</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {channels.map((channel) => (
                <Table.Tr key={channel.id}>
                  <Table.Th scope="row" fw={550} style={{ overflowWrap: 'anywhere' }}>
                    <Link to="/settings" search={{ tab: 'notifications', channel: channel.id }}>
                      {channel.name}
                    </Link>
                  </Table.Th>
                  <Table.Td>{kindNames[channel.kind]}</Table.Td>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>{targetText(channel)}</Table.Td>
                  <Table.Td>
                    <ChannelStateLabel channel={channel} />
                  </Table.Td>
                  <Table.Td ta="right">{channel.waiting.toLocaleString('en-GB')}</Table.Td>
                  <Table.Td>{channel.lastDeliveredAt ? <DateTime at={channel.lastDeliveredAt} /> : 'Never'}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <NewChannelDialog opened={opened} onClose={close} />
    </Section>
  )
}
