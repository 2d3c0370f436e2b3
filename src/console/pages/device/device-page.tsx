// The device page has the open incidents of one device, and tabs for its status, settings, versions, operations and logs.
import { Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type ComponentType, lazy, useMemo } from 'react'
import { ApiError } from '../../../client/client.ts'
import { type DeviceAction, modelOf } from '../../../contract/device/models.ts'
import { operationQuery, useIsWriting } from '../../api.ts'
import { ConnectionLabel } from '../../domain/fleet/device/connection-label.tsx'
import { type DeviceDetails, deviceName, hasAction, useDeviceTimeZone } from '../../domain/fleet/device/device.ts'
import { DeviceNote } from '../../domain/fleet/device/device-note.tsx'
import { useRestarts } from '../../domain/fleet/device/restarts.ts'
import { WaitingRestarts } from '../../domain/fleet/device/waiting-restarts.tsx'
import { DeviceBreadcrumbs } from '../../domain/fleet/site/room-link.tsx'
import { incidentsQuery } from '../../domain/incidents/incident-list.ts'
import { OpenIncidents } from '../../domain/incidents/open-incidents.tsx'
import { silencesQuery } from '../../domain/incidents/silence/silence.ts'
import { containingPlaces, SilenceNotice } from '../../domain/incidents/silence/silence-notice.tsx'
import { areAnswered } from '../../parts/page/first-answers.ts'
import { ErrorPanel, LoadingBoundary, Page } from '../../parts/page/page.tsx'
import { PageSkeleton } from '../../parts/page/skeleton.tsx'
import { loadCode } from '../../parts/recovery/load-code.ts'
import { FactList } from '../../parts/text/fact-list.tsx'
import { DateTime } from '../../parts/text/time.tsx'
import { usePermissions } from '../../session.ts'
import { DeviceActions } from './device-actions.tsx'
import { DeviceNotFound } from './device-not-found.tsx'
import { LogsTab } from './logs-tab.tsx'
import { OperationsTab } from './operations-tab.tsx'
import { StatusTab } from './status/status-tab.tsx'
import type { TabProps } from './tab-props.ts'

const ConfigTab = lazy(() =>
  loadCode(() => import('./config/config-tab.tsx')).then((module) => ({ default: module.ConfigTab })),
)
const VersionsTab = lazy(() =>
  loadCode(() => import('./config/versions-tab.tsx')).then((module) => ({ default: module.VersionsTab })),
)

const allTabs: readonly { id: string; name: string; content: ComponentType<TabProps>; needs?: DeviceAction }[] = [
  { id: 'status', name: 'Status', content: StatusTab },
  {
    id: 'config',
    name: 'Settings',
    content: ({ device }) => <ConfigTab endpointId={device.id} />,
    needs: 'config',
  },
  {
    id: 'versions',
    name: 'Versions',
    content: ({ device }) => <VersionsTab endpointId={device.id} />,
    needs: 'config',
  },
  { id: 'operations', name: 'Operations', content: OperationsTab },
  { id: 'logs', name: 'Logs', content: LogsTab },
]

export function DevicePage() {
  const { endpointId } = useParams({ from: '/devices/$endpointId' })
  const { data, error, refetch } = useQuery(operationQuery('endpointsGet', { id: endpointId }))
  const isWriting = useIsWriting()
  const isDrawable = useFirstAnswers(endpointId, data !== undefined)
  const isNotFound = error instanceof ApiError && (error.status === 404 || error.status === 400)
  if (isNotFound && !(data && isWriting)) return <DeviceNotFound />
  if (data && !isDrawable) return <PageSkeleton />
  if (data) return <DeviceView device={data.body} etag={data.etag} />
  if (error) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  return <PageSkeleton />
}

/** Nothing is read about a device that does not exist. */
function useFirstAnswers(endpointId: string, isKnown: boolean): boolean {
  return areAnswered([
    useQuery({ ...incidentsQuery({ state: 'open', endpointId }), enabled: isKnown }),
    useQuery({ ...silencesQuery(), enabled: isKnown }),
    useQuery({ ...operationQuery('operationsList'), enabled: isKnown }),
  ])
}

function DeviceView({ device, etag }: TabProps) {
  const { tab } = useSearch({ from: '/devices/$endpointId' })
  const navigate = useNavigate({ from: '/devices/$endpointId' })
  const may = usePermissions()
  const incidentsOf = useMemo(() => ({ endpointId: device.id }), [device.id])
  const tabs = allTabs.filter(({ needs }) => needs === undefined || hasAction(device, needs))
  const opened = tabs.find(({ id }) => id === tab) ?? tabs[0]
  return (
    <Page
      title={deviceName(device)}
      above={<DeviceBreadcrumbs roomId={device.roomId} roomName={device.roomName} />}
      beside={<ConnectionState device={device} />}
      actions={may.operate && <DeviceActions device={device} />}
    >
      <DeviceFacts device={device} />
      <DeviceNote device={device} />
      <OpenIncidents of={incidentsOf} />
      <DeviceSilences device={device} />
      <WaitingRestarts devices={[device]} />
      <Tabs
        value={opened?.id ?? null}
        onChange={(id) => void navigate({ search: id === 'status' || id === null ? {} : { tab: id }, replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="md" aria-label="Device details">
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

/** A device is silenced with its room and the sites of its room too. */
function DeviceSilences({ device: { id, roomId } }: Pick<TabProps, 'device'>) {
  const room = useQuery({ ...operationQuery('roomsGet', { id: roomId ?? 0 }), enabled: roomId !== undefined }).data
    ?.body
  const ids = { endpointId: id, roomId, locationId: room?.location?.id, regionId: room?.location?.region?.id }
  return <SilenceNotice places={containingPlaces(ids)} />
}

function ConnectionState({ device }: { readonly device: DeviceDetails }) {
  const restartingSinceMs = useRestarts().get(device.id)
  return <ConnectionLabel state={device.state} hasGateway={device.hasGateway} restartingSinceMs={restartingSinceMs} />
}

function DeviceFacts({ device }: { readonly device: DeviceDetails }) {
  const { serial, model, state, since, firmwareVersion } = device
  const zone = useDeviceTimeZone(device)
  const isRestarting = useRestarts().has(device.id)
  const { name: modelName, manufacturer = device.manufacturer } = modelOf(model)
  return (
    <FactList
      label="About this device"
      facts={[
        ['Since', since && state !== 'UNKNOWN' && !isRestarting && <DateTime key="since" at={since} zone={zone} />],
        ['Model', [manufacturer, modelName].filter(Boolean).join(' ')],
        ['Serial number', serial],
        ['Firmware', firmwareVersion],
      ]}
    />
  )
}
