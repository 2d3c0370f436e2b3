// Counts devices by model and by whether their firmware is the latest; each number links to its devices.
import { Table } from '@mantine/core'
import { memo, useMemo } from 'react'
import { modelOf } from '../../../contract/device/models.ts'
import {
  type DeviceTableRow,
  type FirmwareState,
  firmwareStateOf,
  firmwareStates,
} from '../../domain/fleet/device/device-rows.ts'
import { Section } from '../../parts/page/page.tsx'
import { DeviceCount } from './device-count.tsx'
import classes from './overview.module.css'

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
      <Table
        verticalSpacing={5}
        horizontalSpacing={6}
        className={`${classes.counts} ${classes.firmware}`}
        aria-label={title}
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Model</Table.Th>
            {states.map((state) => (
              <Table.Th key={state}>{firmwareStates[state]}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {models.map(({ model, counts }) => (
            <Table.Tr key={model}>
              <Table.Th scope="row" title={modelOf(model).name}>
                {modelOf(model).name}
              </Table.Th>
              {states.map((state) => (
                <Table.Td key={state}>
                  <DeviceCount filter={{ model, update: state }} what={`firmware ${state}`} count={counts[state]} />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Section>
  )
})

interface FirmwareCount {
  readonly model: string
  readonly counts: Readonly<Record<FirmwareState, number>>
}

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
