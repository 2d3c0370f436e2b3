// One gateway: its state, what it reaches, and its devices with state and reason. [contract 13.items]
import { ActionIcon, Button, Group, Menu, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { type SourceType, sourceTypes } from '../../../../contract/fleet/drivers.ts'
import { includesAll, normalizeText, searchWords } from '../../../../contract/search-text.ts'
import { operationQuery, useBody, useWrite } from '../../../api.ts'
import { ConnectionLabel } from '../../../domain/fleet/device/connection-label.tsx'
import { AddDeviceButton, AddDeviceDialog } from '../../../domain/fleet/gateway/add-device.tsx'
import { EditItem } from '../../../domain/fleet/gateway/edit-item.tsx'
import {
  addressText,
  type Gateway,
  type GatewayDriver,
  type GatewayItem,
  gatewayName,
  itemCount,
  itemName,
} from '../../../domain/fleet/gateway/gateway.ts'
import { ItemState, itemStateChoices, itemStateName } from '../../../domain/fleet/gateway/item-state.tsx'
import { type RoomNameOf, useRoomNames } from '../../../domain/fleet/room/room-names.ts'
import { RoomLink } from '../../../domain/fleet/site/room-link.tsx'
import { sourceTypeNames } from '../../../domain/fleet/source/source.ts'
import { SourceStateLabel } from '../../../domain/fleet/source/source-state.tsx'
import { MoreIcon } from '../../../parts/page/icons.tsx'
import { EmptyState, LoadingBoundary, Section } from '../../../parts/page/page.tsx'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { FilterBar, FilterSelect, ResultCount, SearchBox } from '../../../parts/table/list-filters.tsx'
import { longTable } from '../../../parts/table/long-table.tsx'
import { useSearchParamsUpdate } from '../../../parts/table/search-params.ts'
import { DefinitionList } from '../../../parts/text/definition-list.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import { usePermissions } from '../../../session.ts'
import { DeleteItem } from './delete-item.tsx'

const route = getRouteApi('/settings')
type Search = ReturnType<typeof route.useSearch>

export function GatewayView({ gateway }: { readonly gateway: Gateway }) {
  const [isAdding, addDevice] = useDisclosure(false)
  return (
    <Stack>
      <Text fz="sm" component="nav" aria-label="Breadcrumb">
        <Link to="/settings" search={{ tab: 'gateways' }} activeOptions={{ exact: true, includeSearch: true }}>
          All gateways
        </Link>
      </Text>
      <Section
        title={gatewayName(gateway)}
        actions={
          <Button
            size="xs"
            variant="default"
            renderRoot={(props) => <Link {...props} to="/devices/$endpointId" params={{ endpointId: gateway.id }} />}
          >
            View as a device
          </Button>
        }
      >
        <GatewayFacts gateway={gateway} />
      </Section>
      <Section title="Devices" actions={<AddDeviceButton onClick={addDevice.open} />}>
        {gateway.state !== 'ONLINE' && itemCount(gateway) > 0 && (
          <Text fz="sm" c="dimmed" mb="sm" role="status">
            The gateway is away, so the devices have the states that it reported last.
          </Text>
        )}
        <LoadingBoundary>
          <Items gatewayId={gateway.id} />
        </LoadingBoundary>
      </Section>
      <AddDeviceDialog gatewayId={gateway.id} opened={isAdding} onClose={addDevice.close} />
    </Stack>
  )
}

const GatewayFacts = ({ gateway }: { readonly gateway: Gateway }) => (
  <DefinitionList
    definitions={[
      [
        'State',
        <span key="state">
          <ConnectionLabel state={gateway.state} restartingSinceMs={undefined} />{' '}
          {gateway.since !== undefined && (
            <>
              since <DateTime at={gateway.since} />
            </>
          )}
        </span>,
      ],
      ['Room', <RoomLink key="room" roomId={gateway.roomId} roomName={gateway.roomName} />],
      ['Reaches', gateway.reach.join(', ') || 'Not reported yet'],
      ['Version', gateway.version],
      ['Serial number', gateway.serial],
      ['Sources', <SourcesOfGateway key="sources" id={gateway.id} />],
    ]}
  />
)

/** Only people who see all regions read the sources. */
function SourcesOfGateway({ id }: { readonly id: string }) {
  const { everywhere } = usePermissions()
  const { data } = useQuery({ ...operationQuery('sourcesList'), enabled: everywhere })
  const sources = data?.body.sources.filter(({ gatewayId }) => gatewayId === id) ?? []
  if (sources.length === 0) return <>None</>
  return sources.map((source) => (
    <div key={source.id}>
      <Link to="/settings" search={{ tab: 'sources', source: source.id }}>
        {source.name}
      </Link>{' '}
      <SourceStateLabel state={source.state} />
    </div>
  ))
}

type Task = 'edit' | 'certificate' | 'delete'

function Items({ gatewayId }: { readonly gatewayId: string }) {
  const { write } = usePermissions()
  const { devices } = useBody('gatewayDevicesList', { id: gatewayId })
  const { drivers } = useBody('driversList')
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = useSearchParamsUpdate<Search>(navigate)
  const { q = '' } = search
  const state = itemStateChoices.find(({ value }) => value === search.state)?.value
  const [task, setTask] = useState<{ readonly name: Task; readonly item: GatewayItem }>()
  const [opened, setOpened] = useState<Task>()
  const { mutate: retry } = useWrite('gatewayDevicesRetry', { successText: 'The gateway tries it now' })
  const shown = useMemo(() => {
    const words = searchWords(q)
    return devices.filter(
      (item) =>
        (state === undefined || item.state === state) &&
        includesAll(normalizeText(`${itemName(item)} ${item.host} ${item.roomName ?? ''} ${item.reason ?? ''}`), words),
    )
  }, [devices, q, state])
  const roomNameOf = useRoomNames()
  const columns = useMemo(() => {
    const start = (name: Task, item: GatewayItem) => {
      setTask({ name, item })
      setOpened(name)
    }
    const tryAgain = (item: GatewayItem) => retry({ input: { id: gatewayId, deviceId: item.id } })
    return [...itemColumns(drivers, roomNameOf), ...(write ? [actionColumn(start, tryAgain)] : [])]
  }, [drivers, roomNameOf, write, retry, gatewayId])
  const isFiltered = q !== '' || state !== undefined
  const close = () => setOpened(undefined)
  if (devices.length === 0) {
    return (
      <EmptyState title="No devices yet">
        {write ? 'Add a device: its address, how to sign in, and its room.' : 'Ask an admin to add devices.'}
      </EmptyState>
    )
  }
  return (
    <Stack gap="xs">
      <FilterBar
        search={
          <SearchBox
            label="Search"
            placeholder="Name, address or room"
            value={q}
            onChange={(text) => change({ q: text || undefined })}
          />
        }
      >
        <FilterSelect
          label="State"
          value={state}
          choices={itemStateChoices}
          onChange={(value) => change({ state: value })}
        />
      </FilterBar>
      <DataTable
        label="Devices of the gateway"
        rows={shown}
        columns={columns}
        keyOf={({ id }) => id}
        minWidthPx={760}
        long={longTable({
          list: 'gateway-devices',
          rowHeight: 88,
          minHeightPx: 300,
          summary: (
            <ResultCount
              shown={shown.length}
              all={devices.length}
              one="device"
              onClear={isFiltered ? () => change({ q: undefined, state: undefined }) : undefined}
            />
          ),
        })}
        empty={<EmptyState title="No devices match these filters">Change the search or clear the filters.</EmptyState>}
      />
      {task && (task.name === 'edit' || task.name === 'certificate') && (
        <EditItem
          key={task.item.id}
          item={task.item}
          startsWithTest={task.name === 'certificate'}
          opened={opened === task.name}
          onClose={close}
        />
      )}
      {task?.name === 'delete' && (
        <DeleteItem key={task.item.id} item={task.item} opened={opened === 'delete'} onClose={close} />
      )}
    </Stack>
  )
}

const driverName = (drivers: readonly GatewayDriver[], { driver }: GatewayItem): string =>
  sourceTypes.includes(driver as SourceType)
    ? sourceTypeNames[driver as SourceType]
    : (drivers.find(({ id }) => id === driver)?.name ?? driver)

const itemColumns = (drivers: readonly GatewayDriver[], roomNameOf: RoomNameOf): readonly Column<GatewayItem>[] => [
  {
    id: 'name',
    title: 'Device',
    width: '2.5fr',
    breaksWords: true,
    sortValue: (item) => itemName(item).toLowerCase(),
    text: itemName,
    cell: (item) => (
      <div>
        {item.endpointId === undefined ? (
          itemName(item)
        ) : (
          <Link to="/devices/$endpointId" params={{ endpointId: item.endpointId }}>
            {itemName(item)}
          </Link>
        )}
        <Text fz="xs" c="dimmed" fw={400}>
          {addressText(item)}
        </Text>
        <Text fz="xs" c="dimmed" fw={400}>
          {driverName(drivers, item)}
        </Text>
      </div>
    ),
  },
  {
    id: 'state',
    title: 'State',
    width: '4fr',
    sortValue: ({ state }) => itemStateName(state),
    text: ({ state }) => itemStateName(state),
    cell: (item) => <ItemState item={item} isInRow />,
  },
  {
    id: 'reason',
    title: 'Reason',
    from: 'file',
    text: ({ reason = '' }) => reason,
    cell: ({ reason = '' }) => reason,
  },
  {
    id: 'room',
    title: 'Room',
    width: '1.5fr',
    breaksWords: true,
    sortValue: ({ roomName = '' }) => roomName.toLowerCase(),
    text: ({ roomName = '' }) => roomName,
    cell: ({ roomId, roomName }) =>
      roomId === undefined ? (
        'Deleted'
      ) : (
        <Link to="/rooms/$roomId" params={{ roomId: String(roomId) }}>
          {roomNameOf(roomId, roomName)}
        </Link>
      ),
  },
  { id: 'address', title: 'Address', from: 'file', text: addressText, cell: addressText },
  {
    id: 'driver',
    title: 'Driver',
    from: 'file',
    text: (item) => driverName(drivers, item),
    cell: (item) => driverName(drivers, item),
  },
  {
    id: 'since',
    title: 'Since',
    width: '100px',
    sortValue: ({ since }) => Date.parse(since),
    text: ({ since }) => since,
    cell: ({ since }) => <DateTime at={since} />,
  },
]

const actionColumn = (
  start: (task: Task, item: GatewayItem) => void,
  tryAgain: (item: GatewayItem) => void,
): Column<GatewayItem> => ({
  id: 'actions',
  title: 'Actions',
  width: '150px',
  isControl: true,
  inCard: 'corner',
  cell: (item) => (
    <Group gap={4} wrap="nowrap" justify="flex-end">
      {item.state === 'CHANGED' ? (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Check ${itemName(item)}`}
          onClick={() => start('certificate', item)}
        >
          Check
        </Button>
      ) : (
        item.sourceId === undefined &&
        item.state !== 'CONNECTED' &&
        item.state !== 'NEW' && (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Try ${itemName(item)} again`}
            onClick={() => tryAgain(item)}
          >
            Try again
          </Button>
        )
      )}
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            c="dimmed"
            aria-label={`Actions for ${itemName(item)}`}
            title="Actions"
          >
            <MoreIcon />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {item.sourceId === undefined ? (
            <>
              <Menu.Item onClick={() => start('edit', item)}>Edit</Menu.Item>
              <Menu.Item onClick={() => tryAgain(item)}>Try again</Menu.Item>
            </>
          ) : (
            <Menu.Item
              renderRoot={(props) => (
                <Link {...props} to="/settings" search={{ tab: 'sources', source: item.sourceId, q: item.sourceKey }} />
              )}
            >
              View at its source
            </Menu.Item>
          )}
          <Menu.Item c="var(--rk-offline)" onClick={() => start('delete', item)}>
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Group>
  ),
})
