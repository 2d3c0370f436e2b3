// What is wrong with a device, and what to do about it; nothing when all is well.
import { Card, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { operationQuery } from '../../api.ts'
import type { DeviceDetails } from '../../domain/device/device.ts'
import { CrossIcon, WarnIcon } from '../../parts/page/icons.tsx'
import { StatusLabel } from '../../parts/text/status-label.tsx'
import { inGigabytes, isNearlyFull, storagesOf } from './storage-section.tsx'

interface Trouble {
  readonly name: string
  readonly isWorst?: boolean
  readonly advice: ReactNode
}

export function Troubles({ device }: { readonly device: DeviceDetails }) {
  const config = useQuery(operationQuery('configStateGet', { id: device.id })).data?.body.state
  const troubles = [...troublesOf(device), ...(config === 'FAILED' ? [refusedConfig(device)] : [])]
  if (troubles.length === 0) return null
  return (
    <Card component="section" aria-label="What is wrong" bg="var(--rk-panel)">
      <Stack gap="sm">
        {troubles.map(({ name, isWorst = false, advice }) => (
          <div key={name}>
            <StatusLabel
              colour={isWorst ? 'var(--rk-offline)' : 'var(--rk-degraded)'}
              icon={isWorst ? <CrossIcon size={16} /> : <WarnIcon size={16} />}
            >
              {name}
            </StatusLabel>
            <Text fz="sm" pl={22}>
              {advice}
            </Text>
          </div>
        ))}
      </Stack>
    </Card>
  )
}

function troublesOf(device: DeviceDetails): Trouble[] {
  const { connected, connectionTime, ntpServerReachable, activeNtpServer, ntpServer } = device
  return [
    ...(connected
      ? []
      : [
          {
            name: connectionTime === undefined ? 'It has never connected' : 'It is offline',
            isWorst: true,
            advice: `Check its power and its network cable.${connectionTime === undefined ? '' : ' What is shown below is what it last reported.'}`,
          },
        ]),
    ...(ntpServerReachable === false
      ? [
          {
            name: 'Its time server does not answer',
            advice: `Its clock may drift, and secure connections may then fail. Check that it can reach ${activeNtpServer ?? ntpServer ?? 'its time server'}, or set another in Config.`,
          },
        ]
      : []),
    ...storagesOf(device)
      .filter(isNearlyFull)
      .map(({ name, free }) => ({
        name: `${name} storage is nearly full`,
        advice: `Only ${inGigabytes(free)} is left. An update may not fit; a reboot often frees some.`,
      })),
  ]
}

const refusedConfig = ({ id }: DeviceDetails): Trouble => ({
  name: 'It refused its config',
  advice: (
    <Link to="/devices/$endpointId" params={{ endpointId: id }} search={{ tab: 'config' }}>
      See which settings, and why
    </Link>
  ),
})
