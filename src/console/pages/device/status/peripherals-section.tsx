// Lists the peripherals of a device, such as cameras, microphones and panels, and whether the device can use them.
import { Text } from '@mantine/core'
import { humanize, oneLine } from '../../../../contract/words.ts'
import type { DeviceDetails } from '../../../domain/fleet/device/device.ts'
import { Section } from '../../../parts/page/page.tsx'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { StatusLabel } from '../../../parts/text/status-label.tsx'

type Peripheral = NonNullable<DeviceDetails['peripherals']>[number]

export function PeripheralsSection({ device: { peripherals = [] } }: { readonly device: DeviceDetails }) {
  if (peripherals.length === 0) return null
  const rows = peripherals.toSorted((a, b) => Number(a.connected) - Number(b.connected))
  const hasVersion = peripherals.some(({ version = '' }) => oneLine(version) !== '')
  const title = 'Peripherals'
  return (
    <Section title={title}>
      <DataTable
        label={title}
        rows={rows}
        columns={[...columns, ...(hasVersion ? [versionColumn] : [])]}
        keyOf={({ id }) => id}
      />
    </Section>
  )
}

const columns: readonly Column<Peripheral>[] = [
  {
    id: 'name',
    title: 'Name',
    width: '40%',
    breaksWords: true,
    cell: ({ id, name, serial }) => (
      <>
        {oneLine(name) || oneLine(id)}
        {oneLine(serial) !== '' && (
          <Text fz="xs" c="dimmed" fw={400}>
            {oneLine(serial)}
          </Text>
        )}
      </>
    ),
  },
  {
    id: 'connected',
    title: 'State',
    inCard: 'corner',
    cell: ({ connected }) =>
      connected ? <StatusLabel tone="calm">Connected</StatusLabel> : <StatusLabel tone="warning">Missing</StatusLabel>,
  },
  { id: 'kind', title: 'Kind', cell: ({ kind }) => humanize(kind) },
]

const versionColumn: Column<Peripheral> = {
  id: 'version',
  title: 'Version',
  breaksWords: true,
  cell: ({ version }) => oneLine(version) || '–',
}
