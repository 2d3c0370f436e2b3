// The columns of the list of a source's devices.
import { ActionIcon, Button, Group, Menu, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { sensors } from '../../../../contract/device/models.ts'
import { sensorLabels, sensorValueText } from '../../../../contract/device/sensor-texts.ts'
import { type GatewayDeviceState, gatewayDeviceStates } from '../../../../contract/fleet/gateways.ts'
import type { Source, SourceDevice } from '../../../../contract/fleet/sources.ts'
import { oneLine } from '../../../../contract/words.ts'
import { ItemStateLabel } from '../../../domain/fleet/gateway/item-state.tsx'
import { CancelledIcon, MoreIcon, PlusIcon } from '../../../parts/page/icons.tsx'
import type { Column } from '../../../parts/table/column.ts'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import type { DeviceTask } from './device-dialogs.tsx'
import { canAdopt, decisions, filterNames, sourceDeviceName } from './device-rows.ts'
import type { Decide } from './use-decide.ts'

type RoomNames = ReadonlyMap<number, string>

const valuesText = ({ values = {} }: SourceDevice): string =>
  sensors
    .flatMap((sensor) => {
      const value = values[sensor]
      return value === undefined ? [] : [`${sensorLabels[sensor].name} ${sensorValueText(sensor, value)}`]
    })
    .join(', ')

const stateText = ({ state, isMissing }: SourceDevice): string =>
  isMissing ? `${filterNames[state]}, missing at the source` : filterNames[state]

const reasonOf = ({ refusedBecause, reason, notUnderstood = [] }: SourceDevice): string =>
  oneLine([refusedBecause, reason, ...notUnderstood].filter(Boolean).join(' '))

const Small = ({ children, title }: { readonly children: ReactNode; readonly title?: string }) => (
  <Text fz="xs" c="dimmed" fw={400} lineClamp={2} title={title} style={{ overflowWrap: 'anywhere' }}>
    {children}
  </Text>
)

export const sourceDeviceColumns = (source: Source, roomNames: RoomNames): readonly Column<SourceDevice>[] => [
  {
    id: 'name',
    title: 'Device',
    width: '2.5fr',
    breaksWords: true,
    sortValue: (device) => sourceDeviceName(device).toLowerCase(),
    text: sourceDeviceName,
    cell: (device) => (
      <div>
        {device.endpointId === undefined ? (
          sourceDeviceName(device)
        ) : (
          <Link to="/devices/$endpointId" params={{ endpointId: device.endpointId }}>
            {sourceDeviceName(device)}
          </Link>
        )}
        <Small>{[device.manufacturer, device.model].filter(Boolean).join(' ')}</Small>
        <Small title={device.topic ?? device.key}>{device.serial ?? device.topic ?? device.key}</Small>
      </div>
    ),
  },
  {
    id: 'values',
    title: 'Latest values',
    width: '2fr',
    breaksWords: true,
    text: valuesText,
    cell: (device) => (
      <div>
        <Text fz="sm" fw={400} lineClamp={2} style={{ whiteSpace: 'normal' }}>
          {valuesText(device) || 'None yet'}
        </Text>
        {device.measuredAt !== undefined && (
          <Small>
            <DateTime at={device.measuredAt} />
          </Small>
        )}
      </div>
    ),
  },
  {
    id: 'state',
    title: 'State',
    width: '2.5fr',
    sortValue: stateText,
    text: stateText,
    cell: (device) => <DeviceState device={device} />,
  },
  { id: 'reason', title: 'Reason', from: 'file', text: reasonOf, cell: reasonOf },
  ...(source.type === 'neat-pulse'
    ? [
        {
          id: 'theirRoom',
          title: 'Room at the source',
          width: '1.5fr',
          breaksWords: true,
          sortValue: ({ theirRoomName = '' }: SourceDevice) => theirRoomName.toLowerCase(),
          text: ({ theirRoomName = '' }: SourceDevice) => theirRoomName,
          cell: ({ theirRoomName }: SourceDevice) => theirRoomName ?? 'None',
        },
      ]
    : []),
  {
    id: 'room',
    title: 'Room here',
    width: '1.5fr',
    breaksWords: true,
    sortValue: ({ roomName = '' }) => roomName.toLowerCase(),
    text: ({ roomName = '' }) => roomName,
    cell: ({ roomId, roomName, linkedRoomId }) =>
      roomId === undefined ? (
        linkedRoomId !== undefined && <Small>Linked: {roomNames.get(linkedRoomId) ?? `room ${linkedRoomId}`}</Small>
      ) : (
        <Link to="/rooms/$roomId" params={{ roomId: String(roomId) }}>
          {roomNames.get(roomId) ?? roomName}
        </Link>
      ),
  },
  { id: 'key', title: 'Key', from: 'file', text: ({ key }) => key, cell: ({ key }) => key },
]

/** An adopted device has the state of its item at the gateway. */
function DeviceState({ device }: { readonly device: SourceDevice }) {
  const item = gatewayDeviceStates.find((state): state is GatewayDeviceState => state === device.deviceState)
  const reason = reasonOf(device)
  return (
    <div>
      {device.state === 'ADOPTED' && item ? (
        <ItemStateLabel state={item} />
      ) : device.state === 'FOUND' ? (
        <StatusLabel tone="busy" icon={<PlusIcon size={16} />}>
          {device.refusedBecause === undefined ? 'New' : 'Cannot be put into a room'}
        </StatusLabel>
      ) : (
        <StatusLabel tone="quiet" icon={<CancelledIcon size={16} />}>
          {filterNames[device.state]}
        </StatusLabel>
      )}
      {device.isMissing && (
        <div>
          <StatusLabel tone="warning">Missing at the source</StatusLabel>
        </div>
      )}
      {reason !== '' && <Small title={reason}>{reason}</Small>}
    </div>
  )
}

interface ActionProps {
  readonly roomNames: RoomNames
  readonly start: (task: DeviceTask) => void
  readonly decide: Decide['run']
}

export const actionColumn = ({ roomNames, start, decide }: ActionProps): Column<SourceDevice> => ({
  id: 'actions',
  title: 'Actions',
  width: '190px',
  isControl: true,
  inCard: 'corner',
  cell: (device) => {
    const name = sourceDeviceName(device)
    const linked = device.linkedRoomId === undefined ? undefined : roomNames.get(device.linkedRoomId)
    const adopt = () => start({ name: 'adopt', devices: [device] })
    return (
      <Group gap={4} wrap="nowrap" justify="flex-end">
        {device.state === 'FOUND' && canAdopt(device) && (
          <Button
            size="compact-sm"
            variant="default"
            miw={0}
            title={linked && `Put into ${linked}`}
            aria-label={linked ? `Put ${name} into ${linked}` : `Put into a room: ${name}`}
            onClick={linked ? () => decide(decisions.adoptIntoLinkedRooms([device])) : adopt}
          >
            {linked ? `Into ${linked}` : 'Put into a room'}
          </Button>
        )}
        {device.state === 'EXCLUDED' && (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Take back ${name}`}
            onClick={() => decide(decisions.takeBack([device]))}
          >
            Take back
          </Button>
        )}
        <Menu position="bottom-end" width={220}>
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" c="dimmed" aria-label={`Actions for ${name}`} title="Actions">
              <MoreIcon />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {canAdopt(device) && <Menu.Item onClick={adopt}>Put into a room</Menu.Item>}
            {device.state === 'ADOPTED' && (
              <Menu.Item onClick={() => start({ name: 'move', devices: [device] })}>Move to another room</Menu.Item>
            )}
            {device.state === 'FOUND' && (
              <Menu.Item onClick={() => decide(decisions.exclude([device]))}>Exclude</Menu.Item>
            )}
            {device.lastMessage !== undefined || device.topic !== undefined ? (
              <Menu.Item onClick={() => start({ name: 'message', devices: [device] })}>Latest message</Menu.Item>
            ) : null}
            {device.state === 'ADOPTED' && (
              <Menu.Item c="var(--rk-offline)" onClick={() => start({ name: 'remove', devices: [device] })}>
                Remove
              </Menu.Item>
            )}
            {device.state === 'EXCLUDED' && (
              <Menu.Item onClick={() => decide(decisions.takeBack([device]))}>Take back</Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      </Group>
    )
  },
})
