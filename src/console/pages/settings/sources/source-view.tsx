// One source: its state, where it is, and what was found there. [contract 15.sources]
import { Button, Group, Stack, Tabs, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ComponentType, useState } from 'react'
import type { Source } from '../../../../contract/fleet/sources.ts'
import { oneLine } from '../../../../contract/words.ts'
import { useWrite } from '../../../api.ts'
import { contentText, isReadOnly, sourceTypeNames } from '../../../domain/fleet/source/source.ts'
import { SourceStateLabel } from '../../../domain/fleet/source/source-state.tsx'
import { LoadingBoundary, Section } from '../../../parts/page/page.tsx'
import { DefinitionList } from '../../../parts/text/definition-list.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import { DevicesTab } from './devices-tab.tsx'
import { MappingsTab } from './mappings-tab.tsx'
import { PlanTab } from './plan-tab.tsx'
import { DeleteSource, EditSource } from './source-dialogs.tsx'

const route = getRouteApi('/settings')

export function SourceView({ source }: { readonly source: Source }) {
  return (
    <Stack>
      <Text fz="sm" component="nav" aria-label="Breadcrumb">
        <Link to="/settings" search={{ tab: 'sources' }} activeOptions={{ exact: true, includeSearch: true }}>
          All sources
        </Link>
      </Text>
      <Section title={source.name} actions={<SourceButtons source={source} />}>
        <SourceFacts source={source} />
      </Section>
      <SourceTabs source={source} />
    </Stack>
  )
}

interface SourceTab {
  readonly id: string
  readonly name: (source: Source) => string
  readonly content: ComponentType<{ readonly source: Source }>
}

const devicesTab: SourceTab = {
  id: 'devices',
  name: ({ type }) => (type === 'mqtt' ? 'Sensors' : 'Devices'),
  content: DevicesTab,
}
const tabsOf: Readonly<Record<Source['type'], readonly SourceTab[]>> = {
  'neat-pulse': [devicesTab, { id: 'plan', name: () => 'Plan', content: PlanTab }],
  mqtt: [devicesTab, { id: 'mappings', name: () => 'Mappings', content: MappingsTab }],
}

function SourceTabs({ source }: { readonly source: Source }) {
  const { view } = route.useSearch()
  const navigate = route.useNavigate()
  const tabs = tabsOf[source.type]
  const opened = tabs.find(({ id }) => id === view) ?? devicesTab
  return (
    <Tabs
      value={opened.id}
      onChange={(id) =>
        void navigate({
          search: { tab: 'sources', source: source.id, ...(id !== devicesTab.id && id !== null && { view: id }) },
          replace: true,
        })
      }
      keepMounted={false}
    >
      <Tabs.List mb="sm" aria-label={source.name}>
        {tabs.map((tab) => (
          <Tabs.Tab key={tab.id} value={tab.id}>
            {tab.name(source)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(({ id, content: Content }) => (
        <Tabs.Panel key={id} value={id}>
          <LoadingBoundary>
            <Content source={source} />
          </LoadingBoundary>
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}

function SourceButtons({ source }: { readonly source: Source }) {
  const navigate = route.useNavigate()
  const [isEditing, edit] = useDisclosure(false)
  const [startsWithTest, setStartsWithTest] = useState(false)
  const [isDeleting, remove] = useDisclosure(false)
  const retry = useWrite('sourcesUpdate', { successText: 'The gateway tries the source now' })
  const openEdit = (withTest: boolean) => {
    setStartsWithTest(withTest)
    edit.open()
  }
  const isAway = source.state !== 'CONNECTED' && source.state !== 'NEW'
  return (
    <Group gap="xs">
      {source.state === 'CHANGED' && (
        <Button size="xs" onClick={() => openEdit(true)}>
          Check the certificate
        </Button>
      )}
      {isAway && source.state !== 'CHANGED' && (
        <Button
          size="xs"
          loading={retry.isPending}
          onClick={() => retry.mutate({ input: { id: source.id, body: {} } })}
        >
          Try again
        </Button>
      )}
      <Button size="xs" variant="default" onClick={() => openEdit(false)}>
        Edit
      </Button>
      <Button size="xs" variant="default" c="var(--rk-offline)" onClick={remove.open}>
        Remove
      </Button>
      <EditSource source={source} startsWithTest={startsWithTest} opened={isEditing} onClose={edit.close} />
      <DeleteSource
        source={source}
        opened={isDeleting}
        onClose={remove.close}
        onDeleted={() => {
          remove.close()
          void navigate({ search: { tab: 'sources' } })
        }}
      />
    </Group>
  )
}

function SourceFacts({ source }: { readonly source: Source }) {
  const { type, state, since, reason, reachedAt, url, orgId, username, content, enrolIntoRoomId } = source
  return (
    <DefinitionList
      definitions={[
        [
          'State',
          <span key="state">
            <SourceStateLabel state={state} /> since <DateTime at={since} />
          </span>,
        ],
        ['Reason', reason !== undefined && oneLine(reason)],
        ['Last read', state !== 'CONNECTED' && reachedAt !== undefined && <DateTime key="reached" at={reachedAt} />],
        ['Type', sourceTypeNames[type]],
        ['Address', url],
        ['Organisation', orgId],
        ['User name', username],
        [
          'Access',
          type === 'neat-pulse' &&
            (isReadOnly(source)
              ? 'Read only: nothing is changed there'
              : 'Reboots, messages, log requests and settings are sent there'),
        ],
        ['There', content && contentText(content)],
        ['New sensors', enrolIntoRoomId !== undefined && <NewSensorsRoom key="room" roomId={enrolIntoRoomId} />],
        [
          'Gateway',
          <Link key="gateway" to="/settings" search={{ tab: 'gateways', gateway: source.gatewayId }}>
            {source.gatewayName ?? 'Gateway'}
          </Link>,
        ],
      ]}
    />
  )
}

const NewSensorsRoom = ({ roomId }: { readonly roomId: number }) => (
  <Link to="/rooms/$roomId" params={{ roomId: String(roomId) }}>
    Go to this room by themselves
  </Link>
)
