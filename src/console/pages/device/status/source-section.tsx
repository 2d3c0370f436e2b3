// Shows where a device comes from: directly or through a gateway and with which driver, when it enrolled; and unenrols it.
import { Button, Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { capitalised } from '../../../../contract/words.ts'
import { operationQuery } from '../../../api.ts'
import { ConnectionLabel } from '../../../domain/fleet/device/connection-label.tsx'
import { type DeviceDetails, deviceName, useDeviceTimeZone } from '../../../domain/fleet/device/device.ts'
import { usePairGroup } from '../../../domain/fleet/device/pair-group.ts'
import { useRestarts } from '../../../domain/fleet/device/restarts.ts'
import { addressText, type Gateway, missingActions } from '../../../domain/fleet/gateway/gateway.ts'
import { ItemStateLabel } from '../../../domain/fleet/gateway/item-state.tsx'
import { sourceTypeNames } from '../../../domain/fleet/source/source.ts'
import { SourceStateLabel } from '../../../domain/fleet/source/source-state.tsx'
import { BinIcon } from '../../../parts/page/icons.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { type Definition, DefinitionList } from '../../../parts/text/definition-list.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import { plural } from '../../../parts/text/words.ts'
import { usePermissions } from '../../../session.ts'
import type { TabProps } from '../tab-props.ts'
import { UnenrolDialog } from '../unenrol-dialog.tsx'

export function SourceSection({ device, etag }: TabProps) {
  const may = usePermissions()
  const zone = useDeviceTimeZone(device)
  const driverDefinitions = useDriverDefinitions(device)
  const sourceDefinitions = useSourceDefinitions(device)
  const { via, hasGateway, enrolmentTime, remoteControlEnabled, bulkEnrolmentPending } = device
  return (
    <Section title="Connection" actions={may.write && <UnenrolButton device={device} etag={etag} />}>
      <DefinitionList
        definitions={[
          [
            'Connected',
            via === undefined ? hasGateway ? 'Through a gateway' : 'Directly' : <GatewayLink key="via" id={via} />,
          ],
          ...sourceDefinitions,
          ...driverDefinitions,
          ['Gateway for', device.kind === 'GATEWAY' && <DevicesBehind key="behind" device={device} />],
          ['Enrolled', <DateTime key="enrolled" at={enrolmentTime} zone={zone} />],
          ['Remote control', remoteControlEnabled === undefined ? undefined : remoteControlEnabled ? 'On' : 'Off'],
          ['Bulk enrolment', bulkEnrolmentPending && 'In progress'],
        ]}
      />
    </Section>
  )
}

/** The driver with which its gateway sees the device, since when, and what the driver cannot do. */
function useDriverDefinitions({ id, via = '', ...device }: DeviceDetails): readonly Definition[] {
  const zone = useDeviceTimeZone(device)
  const gateway = useListedGateway(via)
  const hasList = gateway !== undefined
  const list = useItemList(via)
  const drivers = useQuery({ ...operationQuery('driversList'), enabled: hasList }).data?.body.drivers
  const item = list?.devices.find(({ endpointId }) => endpointId === id)
  const driver = drivers?.find((one) => one.id === item?.driver)
  if (!item || !driver) return []
  const missing = missingActions(driver)
  return [
    ['Driver', driver.name],
    [
      'Session',
      <span key="session">
        <ItemStateLabel state={item.state} /> since <DateTime at={item.since} zone={zone} />
        {gateway?.state !== 'ONLINE' && ', as last reported'}
      </span>,
    ],
    ['Reason', item.reason],
    [
      'Address',
      <Link key="address" to="/settings" search={{ tab: 'gateways', gateway: via }}>
        {addressText(item)}
      </Link>,
    ],
    ['Not possible', missing && `${capitalised(missing)}: this driver cannot do it.`],
  ]
}

function useItemList(via: string) {
  const hasList = useHasList(via)
  return useQuery({ ...operationQuery('gatewayDevicesList', { id: via }), enabled: hasList }).data?.body
}

/** The source that lists the device, whether it can be read now, and whether something is sent there. */
function useSourceDefinitions(device: DeviceDetails): readonly Definition[] {
  const { id, via = '', sourceType, missingAtSource, state, actions } = device
  const { everywhere } = usePermissions()
  const item = useItemList(via)?.devices.find(({ endpointId }) => endpointId === id)
  const { data } = useQuery({ ...operationQuery('sourcesList'), enabled: everywhere && sourceType !== undefined })
  const { data: gateway } = useQuery({ ...operationQuery('endpointsGet', { id: via }), enabled: via !== '' })
  if (sourceType === undefined) return []
  const source = data?.body.sources.find((one) => one.id === item?.sourceId)
  const isUnseen = state === 'UNKNOWN' && gateway?.body.connected === true
  return [
    [
      'Source',
      source ? (
        <Link key="source" to="/settings" search={{ tab: 'sources', source: source.id, q: item?.sourceKey ?? '' }}>
          {source.name}
        </Link>
      ) : (
        sourceTypeNames[sourceType]
      ),
    ],
    [
      'Access',
      sourceType === 'neat-pulse' &&
        actions?.length === 0 &&
        'Read only: reboots, messages, log requests and settings are not sent to Neat Pulse.',
    ],
    ['Missing', missingAtSource && 'Its source no longer lists this device.'],
    [
      'Away',
      source && source.state !== 'CONNECTED' ? (
        <span key="away">
          The source is away since <DateTime at={source.since} />: <SourceStateLabel state={source.state} />
        </span>
      ) : (
        isUnseen && !source && 'The source is away, so the state of the device is not known.'
      ),
    ],
    ['Session', item?.sourceId !== undefined && <ItemStateLabel key="session" state={item.state} />],
    ['Reason', item?.sourceId !== undefined && item.reason],
  ]
}

function GatewayLink({ id }: { readonly id: string }) {
  const restarts = useRestarts()
  const gateway = useQuery(operationQuery('endpointsGet', { id })).data?.body
  return (
    <>
      Through{' '}
      <Link to="/devices/$endpointId" params={{ endpointId: id }}>
        {gateway ? deviceName(gateway) : 'a gateway'}
      </Link>{' '}
      {gateway && <ConnectionLabel state={gateway.state} restartingSinceMs={restarts.get(id)} />}
    </>
  )
}

function DevicesBehind({ device: { id } }: { readonly device: DeviceDetails }) {
  const devices = useQuery(operationQuery('endpointsBasicList')).data?.body.endpoints
  if (!devices) return null
  const count = devices.filter(({ via }) => via === id).length
  return (
    <Group gap="md">
      {count === 0 ? (
        'No devices yet'
      ) : (
        <Link to="/devices" search={{ via: id }}>
          {plural(count, 'device')}
        </Link>
      )}
      <ListOfGateway id={id} />
    </Group>
  )
}

/** A gateway of another maker can have devices without a list. */
function useListedGateway(gatewayId: string): Gateway | undefined {
  const { data } = useQuery({ ...operationQuery('gatewaysList'), enabled: gatewayId !== '' })
  return data?.body.gateways.find(({ id }) => id === gatewayId)
}
const useHasList = (gatewayId: string): boolean => useListedGateway(gatewayId) !== undefined

function ListOfGateway({ id }: { readonly id: string }) {
  if (!useHasList(id)) return null
  return (
    <Link to="/settings" search={{ tab: 'gateways', gateway: id }}>
      Manage its list
    </Link>
  )
}

function UnenrolButton({ device, etag }: TabProps) {
  const [opened, dialog] = useDisclosure(false)
  const pair = usePairGroup(device)
  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={<BinIcon size={15} />}
        c="var(--rk-offline)"
        onClick={dialog.open}
      >
        Unenrol
      </Button>
      <UnenrolDialog device={device} etag={etag} pair={pair} opened={opened} onClose={dialog.close} />
    </>
  )
}
