// One device: how it is, what it is set to, what it was asked to do, and its logs.
import { Group, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type ComponentType, lazy } from 'react'
import { ApiError } from '../../../client/client.ts'
import { operationQuery, useIsWriting } from '../../api.ts'
import { ConnectionLabel } from '../../domain/device/connection-label.tsx'
import { type DeviceDetails, deviceName, useDeviceTimeZone } from '../../domain/device/device.ts'
import { DeviceBreadcrumbs } from '../../domain/site/room-link.tsx'
import { ErrorPanel, Loading, LoadingBoundary, Page } from '../../parts/page/page.tsx'
import { Timestamp } from '../../parts/text/time.tsx'
import { usePermissions } from '../../session.ts'
import { Actions } from './actions.tsx'
import { LogsTab } from './logs-tab.tsx'
import { NoSuchDevice } from './no-such-device.tsx'
import { OperationsTab } from './operations-tab.tsx'
import { StatusTab } from './status-tab.tsx'

export interface TabProps {
  readonly device: DeviceDetails
  readonly etag: string | undefined
}

const ConfigTab = lazy(() => import('./config-tab.tsx').then((module) => ({ default: module.ConfigTab })))
const VersionsTab = lazy(() => import('./versions-tab.tsx').then((module) => ({ default: module.VersionsTab })))

const tabs: readonly { id: string; name: string; content: ComponentType<TabProps> }[] = [
  { id: 'status', name: 'Status', content: StatusTab },
  { id: 'config', name: 'Config', content: ({ device }) => <ConfigTab endpointId={device.id} /> },
  { id: 'versions', name: 'Versions', content: ({ device }) => <VersionsTab endpointId={device.id} /> },
  { id: 'operations', name: 'Operations', content: OperationsTab },
  { id: 'logs', name: 'Logs', content: LogsTab },
]

export function DevicePage() {
  const { endpointId } = useParams({ from: '/devices/$endpointId' })
  const { data, error, refetch } = useQuery(operationQuery('endpointsGet', { id: endpointId }))
  const isWriting = useIsWriting()
  const isMissing = error instanceof ApiError && (error.status === 404 || error.status === 400)
  if (isMissing && !(data && isWriting)) return <NoSuchDevice />
  if (data) return <KnownDevice device={data.body} etag={data.etag} />
  if (error) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  return <Loading />
}

function KnownDevice({ device, etag }: TabProps) {
  const { tab } = useSearch({ from: '/devices/$endpointId' })
  const navigate = useNavigate({ from: '/devices/$endpointId' })
  const may = usePermissions()
  const opened = tabs.find(({ id }) => id === tab) ?? tabs[0]
  return (
    <Page
      title={deviceName(device)}
      above={<DeviceBreadcrumbs roomId={device.roomId} roomName={device.roomName} />}
      beside={<Presence device={device} />}
      actions={may.write && <Actions device={device} />}
    >
      <Tabs
        value={opened?.id ?? null}
        onChange={(id) => void navigate({ search: id === 'status' || id === null ? {} : { tab: id }, replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="md" aria-label="Parts of this page">
          {tabs.map(({ id, name }) => (
            <Tabs.Tab key={id} value={id}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map(({ id, content: Content }) => (
          <Tabs.Panel key={id} value={id}>
            <LoadingBoundary>
              <Content device={device} etag={etag} />
            </LoadingBoundary>
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  )
}

function Presence({ device }: { readonly device: DeviceDetails }) {
  const zone = useDeviceTimeZone(device)
  return (
    <Group gap={6}>
      <ConnectionLabel connected={device.connected} />
      {device.connectionTime && (
        <Text span c="dimmed" fz="sm">
          since <Timestamp at={device.connectionTime} zone={zone} />
        </Text>
      )}
    </Group>
  )
}
