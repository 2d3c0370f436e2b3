// Counts devices by model and by whether their firmware is the latest; each number links to its devices.
import { memo, useMemo } from 'react'
import { modelOf } from '../../../contract/device/models.ts'
import {
  type DeviceTableRow,
  type FirmwareState,
  firmwareStateOf,
  firmwareStates,
} from '../../domain/fleet/device/device-rows.ts'
import { OneTabStop } from '../../parts/page/one-tab-stop.tsx'
import { Section } from '../../parts/page/page.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { DeviceCount, modelColumn } from './device-count.tsx'

const states = Object.keys(firmwareStates) as FirmwareState[]

/** Rendered only if a device has changed, and not for every sample. */
export const FirmwareByModelSection = memo(function FirmwareByModelSection({
  rows,
}: {
  readonly rows: readonly DeviceTableRow[]
}) {
  const models = useMemo(() => countFirmware(rows), [rows])
  const title = 'Firmware by model'
  return (
    <Section title={title}>
      <OneTabStop>
        <DataTable label={title} rows={models} columns={columns} keyOf={({ model }) => model} minWidthPx={300} />
      </OneTabStop>
    </Section>
  )
})

interface FirmwareCount {
  readonly model: string
  readonly counts: Readonly<Record<FirmwareState, number>>
}

const columns: readonly Column<FirmwareCount>[] = [
  modelColumn,
  ...states.map(
    (state): Column<FirmwareCount> => ({
      id: state,
      title: firmwareStates[state],
      isNumber: true,
      cell: ({ model, counts }) => (
        <DeviceCount filter={{ model, update: state }} what={`firmware ${state}`} count={counts[state]} />
      ),
    }),
  ),
]

/** Models with the most devices that are behind come first. */
function countFirmware(rows: readonly DeviceTableRow[]): FirmwareCount[] {
  const byModel = new Map<string, Record<FirmwareState, number>>()
  for (const row of rows) {
    const counts = byModel.get(row.model) ?? { current: 0, behind: 0, unknown: 0 }
    counts[firmwareStateOf(row)]++
    byModel.set(row.model, counts)
  }
  return [...byModel]
    .map(([model, counts]) => ({ model, counts }))
    .sort((a, b) => b.counts.behind - a.counts.behind || (modelOf(a.model).name < modelOf(b.model).name ? -1 : 1))
}
