// The status tab shows the problems of a device first, then everything that the device reported, and its past incidents.
import { SimpleGrid, Stack } from '@mantine/core'
import { useMemo } from 'react'
import { useDeviceTimeZone } from '../../../domain/fleet/device/device.ts'
import { PastIncidents } from '../../../domain/incidents/past-incidents.tsx'
import { EmptyState, Section } from '../../../parts/page/page.tsx'
import type { TabProps } from '../tab-props.ts'
import { ClockSection } from './clock-section.tsx'
import { FirmwareSection } from './firmware-section.tsx'
import { IdentitySection } from './identity-section.tsx'
import { NetworkSection } from './network-section.tsx'
import { PlacementSection } from './placement-section.tsx'
import { ProblemsSection } from './problems-section.tsx'
import { SensorSection } from './sensor-section.tsx'
import { StorageSection } from './storage-section.tsx'

export function StatusTab({ device, etag }: TabProps) {
  const zone = useDeviceTimeZone(device)
  const incidentsOf = useMemo(() => ({ endpointId: device.id }), [device.id])
  const hasReported =
    device.firmwareVersion !== undefined || device.networks.length > 0 || device.primaryMode !== undefined
  return (
    <Stack>
      <ProblemsSection device={device} />
      <SensorSection device={device} />
      <SimpleGrid cols={{ base: 1, lg: 2 }} style={{ alignItems: 'start' }}>
        <Stack>
          <PlacementSection device={device} />
          <IdentitySection device={device} etag={etag} />
        </Stack>
        {hasReported ? (
          <Stack>
            <FirmwareSection device={device} />
            <StorageSection device={device} />
            <ClockSection device={device} />
          </Stack>
        ) : (
          <Section title="Firmware, storage and network">
            <EmptyState title="No data yet">Details appear when the device connects for the first time.</EmptyState>
          </Section>
        )}
      </SimpleGrid>
      {hasReported && <NetworkSection device={device} />}
      <PastIncidents of={incidentsOf} zone={zone} />
    </Stack>
  )
}
