// How a device is: what is wrong first, then all that it has reported.
import { SimpleGrid, Stack } from '@mantine/core'
import { EmptyState, Section } from '../../parts/page/page.tsx'
import { ClockSection } from './clock-section.tsx'
import type { TabProps } from './device-page.tsx'
import { FirmwareSection } from './firmware-section.tsx'
import { IdentitySection } from './identity-section.tsx'
import { NetworkSection } from './network-section.tsx'
import { PlaceSection } from './place-section.tsx'
import { SensorSection } from './sensor-section.tsx'
import { StorageSection } from './storage-section.tsx'
import { Troubles } from './troubles.tsx'

export function StatusTab({ device, etag }: TabProps) {
  const hasReported =
    device.firmwareVersion !== undefined || device.networks.length > 0 || device.primaryMode !== undefined
  return (
    <Stack>
      <Troubles device={device} />
      <SensorSection device={device} />
      <SimpleGrid cols={{ base: 1, lg: 2 }} style={{ alignItems: 'start' }}>
        <Stack>
          <PlaceSection device={device} />
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
            <EmptyState title="This device has not reported anything yet.">
              It does so by itself when it connects for the first time, and this page shows it at once.
            </EmptyState>
          </Section>
        )}
      </SimpleGrid>
      {hasReported && <NetworkSection device={device} />}
    </Stack>
  )
}
