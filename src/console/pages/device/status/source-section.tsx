// Shows where a device comes from: directly or through a gateway, when it enrolled; and unenrols it.
import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { operationQuery } from '../../../api.ts'
import { ConnectionLabel } from '../../../domain/fleet/device/connection-label.tsx'
import { type DeviceDetails, deviceName, useDeviceTimeZone } from '../../../domain/fleet/device/device.ts'
import { usePairGroup } from '../../../domain/fleet/device/pair-group.ts'
import { useRestarts } from '../../../domain/fleet/device/restarts.ts'
import { BinIcon } from '../../../parts/page/icons.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { DefinitionList } from '../../../parts/text/definition-list.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import { plural } from '../../../parts/text/words.ts'
import { usePermissions } from '../../../session.ts'
import type { TabProps } from '../tab-props.ts'
import { UnenrolDialog } from '../unenrol-dialog.tsx'

export function SourceSection({ device, etag }: TabProps) {
  const may = usePermissions()
  const zone = useDeviceTimeZone(device)
  const { via, enrolmentTime, remoteControlEnabled, bulkEnrolmentPending } = device
  return (
    <Section title="Connection" actions={may.write && <UnenrolButton device={device} etag={etag} />}>
      <DefinitionList
        definitions={[
          ['Connected', via === undefined ? 'Directly' : <Gateway key="via" id={via} />],
          ['Gateway for', device.kind === 'GATEWAY' && <DevicesBehind key="behind" device={device} />],
          ['Enrolled', <DateTime key="enrolled" at={enrolmentTime} zone={zone} />],
          ['Remote control', remoteControlEnabled === undefined ? undefined : remoteControlEnabled ? 'On' : 'Off'],
          ['Bulk enrolment', bulkEnrolmentPending && 'In progress'],
        ]}
      />
    </Section>
  )
}

function Gateway({ id }: { readonly id: string }) {
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
  return count === 0 ? (
    'No devices yet'
  ) : (
    <Link to="/devices" search={{ via: id }}>
      {plural(count, 'device')}
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
