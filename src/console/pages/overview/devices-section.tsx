// Counts devices by model: online, asleep and offline; each number links to its devices.
import { memo, useMemo } from 'react'
import { type DeviceTableRow, isDeviceAsleep, isOffline, isOnline } from '../../domain/fleet/device/device-rows.ts'
import { OneTabStop } from '../../parts/page/one-tab-stop.tsx'
import { Section } from '../../parts/page/page.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { DeviceCount, modelColumn } from './device-count.tsx'
import classes from './overview.module.css'

interface ModelCount {
  readonly model: string
  readonly devices: number
  readonly online: number
  readonly asleep: number
  readonly offline: number
}

/** Rendered only if a device has changed, and not for every sample. */
export const DevicesByModelSection = memo(function DevicesByModelSection({
  rows,
}: {
  readonly rows: readonly DeviceTableRow[]
}) {
  const counts = useMemo(() => countByModel(rows), [rows])
  const hasAsleep = counts.some(({ asleep }) => asleep > 0)
  const title = 'Devices by model'
  return (
    <Section title={title}>
      <OneTabStop>
        <DataTable
          label={title}
          rows={counts}
          columns={hasAsleep ? columns : columns.filter(({ id }) => id !== 'asleep')}
          keyOf={({ model }) => model}
          minWidthPx={300}
        />
      </OneTabStop>
    </Section>
  )
})

const columns: readonly Column<ModelCount>[] = [
  modelColumn,
  {
    id: 'online',
    title: 'Online',
    isNumber: true,
    cell: ({ model, online, devices }) => (
      <span className={classes.counts}>
        <DeviceCount filter={{ model, connected: 'yes' }} what="online" count={online} />
        <span className={classes.dimmed}> of </span>
        <DeviceCount filter={{ model }} count={devices} />
      </span>
    ),
  },
  {
    id: 'asleep',
    title: 'Asleep',
    isNumber: true,
    cell: ({ model, asleep }) => <DeviceCount filter={{ model, connected: 'asleep' }} what="asleep" count={asleep} />,
  },
  {
    id: 'offline',
    title: 'Offline',
    isNumber: true,
    cell: ({ model, offline }) => (
      <DeviceCount filter={{ model, connected: 'no' }} what="offline" count={offline} isBad />
    ),
  },
]

/** Models with the most devices come first. */
const countByModel = (rows: readonly DeviceTableRow[]): ModelCount[] =>
  [...Map.groupBy(rows, ({ model }) => model)]
    .map(([model, devices]) => ({
      model,
      devices: devices.length,
      online: devices.filter(isOnline).length,
      asleep: devices.filter(isDeviceAsleep).length,
      offline: devices.filter(isOffline).length,
    }))
    .sort((a, b) => b.devices - a.devices || (a.model < b.model ? -1 : 1))
