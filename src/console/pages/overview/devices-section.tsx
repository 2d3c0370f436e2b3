// Counts devices by model, online and offline; each number links to its devices.
import { Table } from '@mantine/core'
import { memo, useMemo } from 'react'
import { modelOf } from '../../../contract/device/models.ts'
import { type DeviceTableRow, isOffline, isReconnecting } from '../../domain/fleet/device/device-rows.ts'
import { Section } from '../../parts/page/page.tsx'
import { DeviceCount } from './device-count.tsx'
import classes from './overview.module.css'

interface ModelCount {
  readonly model: string
  readonly devices: number
  readonly online: number
  readonly offline: number
}

/** Rendered only if a device has changed, and not for every sample. */
export const DevicesByModelSection = memo(function DevicesByModelSection({
  rows,
}: {
  readonly rows: readonly DeviceTableRow[]
}) {
  const counts = useMemo(() => countByModel(rows), [rows])
  const title = 'Devices by model'
  return (
    <Section title={title}>
      <Table verticalSpacing={5} horizontalSpacing={6} className={classes.counts} aria-label={title}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Model</Table.Th>
            <Table.Th>Online</Table.Th>
            <Table.Th>Offline</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {counts.map(({ model, devices, online, offline }) => (
            <Table.Tr key={model}>
              <Table.Th scope="row" title={modelOf(model).name}>
                {modelOf(model).name}
              </Table.Th>
              <Table.Td>
                <DeviceCount filter={{ model, connected: 'yes' }} what="online" count={online} />
                <span className={classes.dimmed}> of </span>
                <DeviceCount filter={{ model }} count={devices} />
              </Table.Td>
              <Table.Td>
                <DeviceCount filter={{ model, connected: 'no' }} what="offline" count={offline} isBad />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Section>
  )
})

/** Models with the most devices come first. */
const countByModel = (rows: readonly DeviceTableRow[]): ModelCount[] =>
  [...Map.groupBy(rows, ({ model }) => model)]
    .map(([model, devices]) => ({
      model,
      devices: devices.length,
      online: devices.filter((row) => !isOffline(row) && !isReconnecting(row)).length,
      offline: devices.filter(isOffline).length,
    }))
    .sort((a, b) => b.devices - a.devices || (a.model < b.model ? -1 : 1))
