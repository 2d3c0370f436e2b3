// One channel: its settings, buttons to test, change and delete it, and the log of its deliveries. [contract 10.delivery]
import { Button, Group, Stack, Text } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ruleNames } from '../../../../contract/incidents/rule-names.ts'
import { humanize } from '../../../../contract/words.ts'
import { useWrite } from '../../../api.ts'
import { useSites } from '../../../domain/fleet/site/sites.ts'
import { weeklyText } from '../../../domain/incidents/silence/silence.ts'
import { Section } from '../../../parts/page/page.tsx'
import { DefinitionList } from '../../../parts/text/definition-list.tsx'
import { Notice } from '../../../parts/text/notice.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import { kindNames, type ListedChannel, type ListedDelivery, messageNames, targetText } from './channel.ts'
import { DeleteChannelDialog, EditChannelDialog, NewSecretDialog } from './channel-dialogs.tsx'
import { ChannelStateLabel } from './channel-state.tsx'
import { DeliveriesSection } from './deliveries-section.tsx'

const route = getRouteApi('/settings')
type DialogName = 'edit' | 'secret' | 'delete'

export function ChannelView({ channel }: { readonly channel: ListedChannel }) {
  const navigate = route.useNavigate()
  const [dialog, setDialog] = useState<DialogName>()
  const test = useWrite('channelsTest')
  const toggle = useWrite('channelsUpdate', {
    successText: ({ enabled }) => (enabled ? 'Channel enabled' : 'Channel disabled'),
  })
  const dialogOf = (name: DialogName) => ({ channel, opened: dialog === name, onClose: () => setDialog(undefined) })
  return (
    <Stack>
      <Text fz="sm" component="nav" aria-label="Breadcrumb">
        <Link to="/settings" search={{ tab: 'notifications' }} activeOptions={{ exact: true }}>
          All channels
        </Link>
      </Text>
      <Section
        title={channel.name}
        actions={
          <Group gap="xs">
            <Button
              size="xs"
              loading={test.isPending}
              onClick={() => test.mutate({ input: { id: channel.id } })}
              disabled={!channel.enabled}
            >
              Send test
            </Button>
            <Button size="xs" variant="default" onClick={() => setDialog('edit')}>
              Edit
            </Button>
            <Button
              size="xs"
              variant="default"
              loading={toggle.isPending}
              onClick={() => toggle.mutate({ input: { id: channel.id, body: { enabled: !channel.enabled } } })}
            >
              {channel.enabled ? 'Disable' : 'Enable'}
            </Button>
            {channel.kind === 'webhook' && (
              <Button size="xs" variant="default" onClick={() => setDialog('secret')}>
                New secret
              </Button>
            )}
            <Button size="xs" variant="default" c="var(--rk-offline)" onClick={() => setDialog('delete')}>
              Delete
            </Button>
          </Group>
        }
      >
        <Stack>
          {channel.disabledReason && (
            <Notice tone="danger" title="Disabled">
              {channel.disabledReason}
            </Notice>
          )}
          {test.data && <TestResult delivery={test.data} />}
          <ChannelFacts channel={channel} />
        </Stack>
      </Section>
      <DeliveriesSection channel={channel} />
      <EditChannelDialog {...dialogOf('edit')} />
      <NewSecretDialog {...dialogOf('secret')} />
      <DeleteChannelDialog
        {...dialogOf('delete')}
        onDeleted={() => navigate({ search: { tab: 'notifications' }, replace: true })}
      />
    </Stack>
  )
}

const TestResult = ({ delivery: { state, status, error } }: { readonly delivery: ListedDelivery }) =>
  state === 'DELIVERED' ? (
    <Notice tone="calm" role="status" title="Test message delivered">
      The receiver accepted the message{status !== undefined && ` (${status})`}.
    </Notice>
  ) : (
    <Notice tone="danger" role="status" title="Test message not delivered">
      {error
        ? `${humanize(error)}${status === undefined || error.includes(String(status)) ? '' : ` (${status})`}. `
        : 'No answer yet. '}
      {state === 'WAITING' && 'The message is sent again later.'}
    </Notice>
  )

function ChannelFacts({ channel }: { readonly channel: ListedChannel }) {
  const { regions, locationById } = useSites()
  const regionNames = new Map(regions.map(({ id, name }) => [id, name]))
  const { events, rules, regionIds, locationIds, hours, heartbeatMinutes, lastDeliveredAt } = channel
  return (
    <DefinitionList
      definitions={[
        ['Kind', kindNames[channel.kind]],
        ['Receiver', targetText(channel)],
        ['State', <ChannelStateLabel key="state" channel={channel} />],
        ['Waiting', channel.waiting.toLocaleString('en-GB')],
        ['Last delivered', lastDeliveredAt ? <DateTime key="last" at={lastDeliveredAt} /> : 'Never'],
        ['Last error', channel.lastError && humanize(channel.lastError)],
        ['Messages', events.map((event) => messageNames[event]).join(', ') || 'None'],
        ['Minimum severity', humanize(channel.minSeverity)],
        ['Incident rules', rules.map((rule) => ruleNames[rule]).join(', ') || 'All'],
        ['Regions', regionIds.map((id) => regionNames.get(id) ?? `Region ${id}`).join(', ') || 'All'],
        ['Locations', locationIds.map((id) => locationById.get(id)?.name ?? `Location ${id}`).join(', ') || 'All'],
        ['Hours', hours ? `${weeklyText(hours)}; critical incidents always` : 'Always'],
        ['Heartbeat', heartbeatMinutes !== undefined && `Every ${heartbeatMinutes} min`],
      ]}
    />
  )
}
