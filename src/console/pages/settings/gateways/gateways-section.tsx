// Lists the gateways with their state, what each reaches and the states of its devices, and says how to start one. [contract 13.gateways]
import { Button, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { getRouteApi, Link } from '@tanstack/react-router'
import { gatewayDeviceStates } from '../../../../contract/fleet/gateways.ts'
import { useBody } from '../../../api.ts'
import { ConnectionLabel } from '../../../domain/fleet/device/connection-label.tsx'
import { AddDeviceButton, AddDeviceDialog } from '../../../domain/fleet/gateway/add-device.tsx'
import { type Gateway, gatewayName, itemCount } from '../../../domain/fleet/gateway/gateway.ts'
import { itemStateName } from '../../../domain/fleet/gateway/item-state.tsx'
import { EmptyState, LoadingBoundary, Section } from '../../../parts/page/page.tsx'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import { usePermissions } from '../../../session.ts'
import { GatewayView } from './gateway-view.tsx'
import { StartGateway } from './start-gateway.tsx'

const route = getRouteApi('/settings')

export function GatewaysSection() {
  const { gateways } = useBody('gatewaysList')
  const { gateway: gatewayId } = route.useSearch()
  const chosen = gateways.find(({ id }) => id === gatewayId)
  if (chosen) return <GatewayView key={chosen.id} gateway={chosen} />
  return <AllGateways gateways={gateways} isUnknown={gatewayId !== undefined} />
}

function AllGateways({ gateways, isUnknown }: { readonly gateways: readonly Gateway[]; readonly isUnknown: boolean }) {
  const { operate } = usePermissions()
  const [isOpen, start] = useDisclosure(false)
  const [isAdding, addDevice] = useDisclosure(false)
  const isFirst = gateways.length === 0
  return (
    <Stack>
      <Section
        title="Gateways"
        actions={
          !isFirst && (
            <Group gap="xs">
              {operate && (
                <Button size="xs" variant="default" aria-expanded={isOpen} onClick={start.toggle}>
                  {isOpen ? 'Hide commands' : 'Start a gateway'}
                </Button>
              )}
              <AddDeviceButton onClick={addDevice.open} />
            </Group>
          )
        }
      >
        <Text fz="sm" c="dimmed" mb="sm">
          A gateway is a small program in the network of your devices. It manages codecs, projectors, switches and other
          devices that do not speak the protocol of Roomkeeper.
        </Text>
        {isUnknown && (
          <Text fz="sm" role="status" mb="sm">
            This gateway no longer exists.
          </Text>
        )}
        {isFirst ? (
          <EmptyState title="No gateways yet">
            {operate
              ? 'Start one with the commands below. It appears here as soon as it has connected.'
              : 'Your access does not include enrolment codes. Ask an admin to start a gateway.'}
          </EmptyState>
        ) : (
          <DataTable label="Gateways" rows={gateways} columns={columns} keyOf={({ id }) => id} minWidthPx={760} />
        )}
      </Section>
      {operate && (isFirst || isOpen) && (
        <LoadingBoundary>
          <StartGateway />
        </LoadingBoundary>
      )}
      <AddDeviceDialog opened={isAdding} onClose={addDevice.close} />
    </Stack>
  )
}

const columns: readonly Column<Gateway>[] = [
  {
    id: 'name',
    title: 'Gateway',
    breaksWords: true,
    sortValue: (gateway) => gatewayName(gateway).toLowerCase(),
    cell: (gateway) => (
      <>
        <Link to="/settings" search={{ tab: 'gateways', gateway: gateway.id }}>
          {gatewayName(gateway)}
        </Link>
        <Text fz="xs" c="dimmed" fw={400}>
          {[gateway.roomName, gateway.locationName].filter(Boolean).join(', ') || 'No room'}
        </Text>
      </>
    ),
  },
  {
    id: 'state',
    title: 'State',
    inCard: 'corner',
    sortValue: ({ state }) => state,
    cell: ({ state, since }) => (
      <>
        <ConnectionLabel state={state} restartingSinceMs={undefined} />
        {since !== undefined && (
          <Text fz="xs" c="dimmed" fw={400}>
            since <DateTime at={since} />
          </Text>
        )}
      </>
    ),
  },
  {
    id: 'devices',
    title: 'Devices',
    sortValue: itemCount,
    cell: (gateway) => <DeviceCounts gateway={gateway} />,
  },
  {
    id: 'reach',
    title: 'Reaches',
    breaksWords: true,
    cell: ({ reach }) => reach.join(', ') || 'Not reported yet',
  },
  { id: 'version', title: 'Version', sortValue: ({ version = '' }) => version, cell: ({ version }) => version ?? '' },
]

/** "12 connected, 1 password refused": each leads to these devices. */
function DeviceCounts({ gateway }: { readonly gateway: Gateway }) {
  const counted = gatewayDeviceStates.flatMap((state) => {
    const count = gateway.devices[state] ?? 0
    return count > 0 ? [{ state, count }] : []
  })
  if (counted.length === 0) return <>None yet</>
  return (
    <Stack gap={0}>
      {counted.map(({ state, count }) => (
        <Link key={state} to="/settings" search={{ tab: 'gateways', gateway: gateway.id, state }}>
          {count.toLocaleString('en-GB')} {itemStateName(state).toLowerCase()}
        </Link>
      ))}
      {gateway.state !== 'ONLINE' && (
        <Text fz="xs" c="dimmed" fw={400}>
          as last reported
        </Text>
      )}
    </Stack>
  )
}
