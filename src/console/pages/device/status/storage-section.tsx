// Shows how full the storage of a device is, for each kind of storage that the device has.
import { Group, Progress, Stack, Text } from '@mantine/core'
import type { DeviceDetails } from '../../../domain/fleet/device/device.ts'
import { Section } from '../../../parts/page/page.tsx'

interface StorageVolume {
  readonly name: string
  readonly totalBytes: number
  readonly freeBytes: number
}

export function storageVolumes(device: DeviceDetails): StorageVolume[] {
  const kinds: readonly [string, string | undefined, string | undefined][] = [
    ['System', device.totalSystemStorage, device.freeSystemStorage],
    ['Internal', device.totalInternalStorage, device.freeInternalStorage],
    ['External', device.totalExternalStorage, device.freeExternalStorage],
  ]
  return kinds.flatMap(([name, total, free]) =>
    total === undefined || free === undefined || Number(total) === 0
      ? []
      : [{ name, totalBytes: Number(total), freeBytes: Math.min(Number(free), Number(total)) }],
  )
}

export const isNearlyFull = ({ totalBytes, freeBytes }: StorageVolume): boolean => freeBytes < totalBytes / 10

const gigabytes = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 1, maximumFractionDigits: 1 })
export const gigabytesText = (bytes: number): string => `${gigabytes.format(bytes / 1e9)} GB`

export function StorageSection({ device }: { readonly device: DeviceDetails }) {
  const volumes = storageVolumes(device)
  if (volumes.length === 0) return null
  return (
    <Section title="Storage">
      <Stack gap="sm">
        {volumes.map((volume) => (
          <UsageBar key={volume.name} volume={volume} />
        ))}
      </Stack>
    </Section>
  )
}

function UsageBar({ volume }: { readonly volume: StorageVolume }) {
  const { name, totalBytes, freeBytes } = volume
  const isLow = isNearlyFull(volume)
  const text = `${gigabytesText(freeBytes)} free of ${gigabytesText(totalBytes)}`
  return (
    <div>
      <Group justify="space-between" gap="xs" mb={4} fz="sm">
        <span>{name}</span>
        <Text span fz="sm" c={isLow ? 'var(--rk-offline)' : 'dimmed'}>
          {isLow ? `Nearly full: ${text}` : text}
        </Text>
      </Group>
      <Progress.Root size="sm">
        <Progress.Section
          value={100 * (1 - freeBytes / totalBytes)}
          color={isLow ? 'var(--rk-offline)' : 'fjord'}
          aria-label={`${name} storage in use`}
          aria-valuetext={text}
        />
      </Progress.Root>
    </div>
  )
}
