// The status tab shows the problems of a device first, then everything that the device reported, and its past incidents.
import { SimpleGrid, Stack } from '@mantine/core'
import { useMemo } from 'react'
import { ConnectionsSection } from '../../../domain/fleet/connections/connections-section.tsx'
import { useDeviceTimeZone } from '../../../domain/fleet/device/device.ts'
import { useRestarts } from '../../../domain/fleet/device/restarts.ts'
import { PastIncidents } from '../../../domain/incidents/past-incidents.tsx'
import { EmptyState, Section } from '../../../parts/page/page.tsx'
import type { TabProps } from '../tab-props.ts'
import { ClockSection } from './clock-section.tsx'
import { FirmwareSection } from './firmware-section.tsx'
import { IdentitySection } from './identity-section.tsx'
import { InventorySection } from './inventory-section.tsx'
import { NetworkSection } from './network-section.tsx'
import { PeripheralsSection } from './peripherals-section.tsx'
import { PlacementSection } from './placement-section.tsx'
import { ProblemsSection } from './problems-section.tsx'
import { SensorSection } from './sensor-section.tsx'
import { SourceSection } from './source-section.tsx'
import { StateSection } from './state-section.tsx'
import { StorageSection } from './storage-section.tsx'

export function StatusTab({ device, etag }: TabProps) {
  const zone = useDeviceTimeZone(device)
  const incidentsOf = useMemo(() => ({ endpointId: device.id }), [device.id])
  const restarts = useRestarts()
  const hasConnected = device.connected || device.connectionTime !== undefined
  return (
    <Stack>
      <ProblemsSection device={device} />
      <SensorSection device={device} />
      {hasConnected && (
        <ConnectionsSection
          of={incidentsOf}
          devices={[device]}
          roomId={device.roomId}
          zone={zone}
          restarts={restarts}
        />
      )}
      <SimpleGrid cols={{ base: 1, lg: 2 }} style={{ alignItems: 'start' }}>
        <Stack>
          {hasConnected ? (
            <StateSection device={device} />
          ) : (
            <Section title="State">
              <EmptyState title="No data yet">Details appear when the device connects for the first time.</EmptyState>
            </Section>
          )}
          <PeripheralsSection device={device} />
          <PlacementSection device={device} />
          <SourceSection device={device} etag={etag} />
        </Stack>
        <Stack>
          <IdentitySection device={device} />
          <InventorySection device={device} />
          <FirmwareSection device={device} />
          <StorageSection device={device} />
          <ClockSection device={device} />
        </Stack>
      </SimpleGrid>
      <NetworkSection device={device} />
      <PastIncidents of={incidentsOf} zone={zone} />
    </Stack>
  )
}
