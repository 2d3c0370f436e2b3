// How full the storage of a device is; a kind that it has not is not shown.
import { Group, Progress, Stack, Text } from '@mantine/core'
import type { DeviceDetails } from '../../domain/device/device.ts'
import { Section } from '../../parts/page/page.tsx'

interface Storage {
  readonly name: string
  readonly total: number
  readonly free: number
}

export function storagesOf(device: DeviceDetails): Storage[] {
  const kinds: readonly [string, string | undefined, string | undefined][] = [
    ['System', device.totalSystemStorage, device.freeSystemStorage],
    ['Internal', device.totalInternalStorage, device.freeInternalStorage],
    ['External', device.totalExternalStorage, device.freeExternalStorage],
  ]
  return kinds.flatMap(([name, total, free]) =>
    total === undefined || free === undefined || Number(total) === 0
      ? []
      : [{ name, total: Number(total), free: Math.min(Number(free), Number(total)) }],
  )
}

export const isNearlyFull = ({ total, free }: Storage): boolean => free < total / 10

const gigabytes = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 1, maximumFractionDigits: 1 })
export const inGigabytes = (bytes: number): string => `${gigabytes.format(bytes / 1e9)} GB`

export function StorageSection({ device }: { readonly device: DeviceDetails }) {
  const storages = storagesOf(device)
  if (storages.length === 0) return null
  return (
    <Section title="Storage">
      <Stack gap="sm">
        {storages.map((storage) => (
          <Bar key={storage.name} storage={storage} />
        ))}
      </Stack>
    </Section>
  )
}

function Bar({ storage }: { readonly storage: Storage }) {
  const { name, total, free } = storage
  const isFull = isNearlyFull(storage)
  const text = `${inGigabytes(free)} free of ${inGigabytes(total)}`
  return (
    <div>
      <Group justify="space-between" gap="xs" mb={4} fz="sm">
        <span>{name}</span>
        <Text span fz="sm" c={isFull ? 'var(--rk-offline)' : 'dimmed'}>
          {isFull ? `Nearly full: ${text}` : text}
        </Text>
      </Group>
      <Progress.Root size="sm">
        <Progress.Section
          value={100 * (1 - free / total)}
          color={isFull ? 'var(--rk-offline)' : 'fjord'}
          aria-label={`${name} storage in use`}
          aria-valuetext={text}
        />
      </Progress.Root>
    </div>
  )
}
