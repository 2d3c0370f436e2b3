// What is wrong with a device, and what to do about it; nothing when all is well.
import { Card, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ask } from '../../api.ts'
import type { Device } from '../../domain/device/device.ts'
import { Mark } from '../../domain/room/state-mark.tsx'
import { CrossIcon, WarnIcon } from '../../parts/page/icons.tsx'
import { inGigabytes, isNearlyFull, storagesOf } from './storage-section.tsx'

interface Trouble {
  readonly name: string
  readonly isWorst?: boolean
  readonly advice: ReactNode
}

export function Troubles({ device }: { readonly device: Device }) {
  const config = useQuery(ask('configStateGet', { id: device.id })).data?.body.state
  const troubles = [...troublesOf(device), ...(config === 'FAILED' ? [refusedConfig(device)] : [])]
  if (troubles.length === 0) return null
  return (
    <Card component="section" aria-label="Problems" bg="var(--rk-panel)">
      <Stack gap="sm">
        {troubles.map(({ name, isWorst = false, advice }) => (
          <div key={name}>
            <Mark
              colour={isWorst ? 'var(--rk-offline)' : 'var(--rk-degraded)'}
              mark={isWorst ? <CrossIcon size={16} /> : <WarnIcon size={16} />}
            >
              {name}
            </Mark>
            <Text fz="sm" pl={22}>
              {advice}
            </Text>
          </div>
        ))}
      </Stack>
    </Card>
  )
}

function troublesOf(device: Device): Trouble[] {
  const { connected, connectionTime, ntpServerReachable, activeNtpServer, ntpServer } = device
  return [
    ...(connected
      ? []
      : [
          {
            name: connectionTime === undefined ? 'Never connected' : 'Offline',
            isWorst: true,
            advice: `Check power and network.${connectionTime === undefined ? '' : ' Showing the last reported values.'}`,
          },
        ]),
    ...(ntpServerReachable === false
      ? [
          {
            name: 'Time server unreachable',
            advice: `Clock drift can break secure connections. Check access to ${activeNtpServer ?? ntpServer ?? 'the time server'}, or choose another server in Settings.`,
          },
        ]
      : []),
    ...storagesOf(device)
      .filter(isNearlyFull)
      .map(({ name, free }) => ({
        name: `${name} storage is nearly full`,
        advice: `${inGigabytes(free)} left. Updates may fail; a restart often frees space.`,
      })),
  ]
}

const refusedConfig = ({ id }: Device): Trouble => ({
  name: 'Settings rejected',
  advice: (
    <Link to="/devices/$endpointId" params={{ endpointId: id }} search={{ tab: 'config' }}>
      View details
    </Link>
  ),
})
