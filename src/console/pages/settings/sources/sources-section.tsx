// Lists the sources with their states and the numbers of their devices, and connects new ones. [contract 15.sources]
import { Button, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type SourceType, sourceTypes } from '../../../../contract/fleet/drivers.ts'
import type { Source } from '../../../../contract/fleet/sources.ts'
import { useBody } from '../../../api.ts'
import { isReadOnly, sourceTypeNames } from '../../../domain/fleet/source/source.ts'
import { SourceStateText, sourceStateName } from '../../../domain/fleet/source/source-state.tsx'
import { PlusIcon } from '../../../parts/page/icons.tsx'
import { EmptyState, Section } from '../../../parts/page/page.tsx'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { usePermissions } from '../../../session.ts'
import { ConnectSource, connectTitle } from './source-dialogs.tsx'
import { SourceView } from './source-view.tsx'

const route = getRouteApi('/settings')

export function SourcesSection() {
  const { everywhere } = usePermissions()
  return everywhere ? (
    <Sources />
  ) : (
    <EmptyState title="Sources concern all regions">
      Only admins who see all regions read and change them. Ask an owner.
    </EmptyState>
  )
}

function Sources() {
  const { sources } = useBody('sourcesList')
  const { source: sourceId } = route.useSearch()
  const chosen = sources.find(({ id }) => id === sourceId)
  if (chosen) return <SourceView key={chosen.id} source={chosen} />
  return <AllSources sources={sources} isUnknown={sourceId !== undefined} />
}

function AllSources({ sources, isUnknown }: { readonly sources: readonly Source[]; readonly isUnknown: boolean }) {
  const navigate = route.useNavigate()
  const [type, setType] = useState<SourceType>('neat-pulse')
  const [isConnecting, dialog] = useDisclosure(false)
  const connect = (chosen: SourceType) => {
    setType(chosen)
    dialog.open()
  }
  const open = (source: string) => {
    dialog.close()
    void navigate({ search: { tab: 'sources', source } })
  }
  return (
    <Section
      title="Sources"
      actions={
        <Group gap="xs">
          {sourceTypes.map((each) => (
            <Button
              key={each}
              size="xs"
              variant={each === 'neat-pulse' ? 'filled' : 'default'}
              leftSection={<PlusIcon size={16} />}
              onClick={() => connect(each)}
            >
              {connectTitle(each)}
            </Button>
          ))}
        </Group>
      }
    >
      <Text fz="sm" c="dimmed" mb="sm">
        A source is a system that already knows many devices: an account of Neat Pulse, or an MQTT broker with sensors.
        A gateway reads it and proposes what it finds. Nothing becomes a device, a room or a profile here until you say
        so.
      </Text>
      {isUnknown && (
        <Text fz="sm" role="status" mb="sm">
          This source no longer exists.
        </Text>
      )}
      {sources.length === 0 ? (
        <EmptyState title="No sources yet">
          Connect Neat Pulse to see its rooms and devices here, or an MQTT broker for its sensors.
        </EmptyState>
      ) : (
        <DataTable label="Sources" rows={sources} columns={columns} keyOf={({ id }) => id} minWidthPx={760} />
      )}
      <ConnectSource type={type} opened={isConnecting} onClose={dialog.close} onConnected={open} />
    </Section>
  )
}

const columns: readonly Column<Source>[] = [
  {
    id: 'name',
    title: 'Source',
    breaksWords: true,
    sortValue: ({ name }) => name.toLowerCase(),
    cell: (source) => (
      <Stack gap={0}>
        <Link to="/settings" search={{ tab: 'sources', source: source.id }}>
          {source.name}
        </Link>
        <Text fz="xs" c="dimmed" fw={400}>
          {sourceTypeNames[source.type]}
          {source.type === 'neat-pulse' && isReadOnly(source) && ', read only'}
        </Text>
        <Text fz="xs" c="dimmed" fw={400}>
          {source.url}
        </Text>
      </Stack>
    ),
  },
  {
    id: 'state',
    title: 'State',
    sortValue: ({ state }) => sourceStateName(state),
    cell: (source) => <SourceStateText source={source} />,
  },
  {
    id: 'devices',
    title: 'Devices',
    sortValue: ({ devices }) => devices.ADOPTED,
    cell: (source) => <DeviceCounts source={source} />,
  },
  {
    id: 'gateway',
    title: 'Gateway',
    breaksWords: true,
    sortValue: ({ gatewayName = '' }) => gatewayName.toLowerCase(),
    cell: ({ gatewayId, gatewayName }) => (
      <Link to="/settings" search={{ tab: 'gateways', gateway: gatewayId }}>
        {gatewayName ?? 'Gateway'}
      </Link>
    ),
  },
]

/** "12 new, 41 in rooms, 2 missing": each leads to these devices. */
function DeviceCounts({ source: { id, devices } }: { readonly source: Source }) {
  const counts = [
    { state: 'FOUND', count: devices.FOUND, text: 'new' },
    { state: 'ADOPTED', count: devices.ADOPTED, text: 'in rooms' },
    { state: 'EXCLUDED', count: devices.EXCLUDED, text: 'excluded' },
    { state: 'MISSING', count: devices.missing, text: 'missing at the source' },
  ].filter(({ count }) => count > 0)
  if (counts.length === 0) return <>None yet</>
  return (
    <Stack gap={0}>
      {counts.map(({ state, count, text }) => (
        <Link key={state} to="/settings" search={{ tab: 'sources', source: id, state }}>
          {count.toLocaleString('en-GB')} {text}
        </Link>
      ))}
    </Stack>
  )
}
