// Lists the problems of a device with advice; shows nothing while there are none.
import { Card, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { oneLine } from '../../../../contract/words.ts'
import { operationQuery } from '../../../api.ts'
import type { DeviceDetails } from '../../../domain/fleet/device/device.ts'
import { useRestarts } from '../../../domain/fleet/device/restarts.ts'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
import { gigabytesText, isNearlyFull, storageVolumes } from './storage-section.tsx'

interface DeviceProblem {
  readonly name: string
  readonly isSevere?: boolean
  readonly advice: ReactNode
}

export function ProblemsSection({ device }: { readonly device: DeviceDetails }) {
  const configState = useQuery(operationQuery('configStateGet', { id: device.id })).data?.body.state
  const isRestarting = useRestarts().has(device.id)
  const problems = [
    ...deviceProblems(device, isRestarting),
    ...(configState === 'FAILED' ? [rejectedSettings(device)] : []),
  ]
  if (problems.length === 0) return null
  return (
    <Card component="section" aria-label="Problems" bg="var(--rk-panel)">
      <Stack gap="sm">
        {problems.map(({ name, isSevere = false, advice }) => (
          <div key={name}>
            <StatusLabel tone={isSevere ? 'danger' : 'warning'}>{name}</StatusLabel>
            <Text fz="sm" pl={22}>
              {advice}
            </Text>
          </div>
        ))}
      </Stack>
    </Card>
  )
}

function deviceProblems(device: DeviceDetails, isRestarting: boolean): DeviceProblem[] {
  const { state, connectionTime, ntpServerReachable, activeNtpServer, ntpServer } = device
  return [
    ...(state !== 'OFFLINE' || isRestarting
      ? []
      : [
          {
            name: connectionTime === undefined ? 'Never connected' : 'Offline',
            isSevere: true,
            advice: `Check power and network.${connectionTime === undefined ? '' : ' Showing the last reported values.'}`,
          },
        ]),
    ...(ntpServerReachable === false
      ? [
          {
            name: 'Time server unreachable',
            advice: `Clock drift can break secure connections. Check access to ${oneLine(activeNtpServer ?? ntpServer) || 'the time server'}, or choose another server in Settings.`,
          },
        ]
      : []),
    ...storageVolumes(device)
      .filter(isNearlyFull)
      .map(({ name, freeBytes }) => ({
        name: `${name} storage is nearly full`,
        advice: `${gigabytesText(freeBytes)} left. Updates may fail; a restart often frees space.`,
      })),
  ]
}

const rejectedSettings = ({ id }: DeviceDetails): DeviceProblem => ({
  name: 'Settings rejected',
  advice: (
    <Link to="/devices/$endpointId" params={{ endpointId: id }} search={{ tab: 'config' }}>
      View details
    </Link>
  ),
})
