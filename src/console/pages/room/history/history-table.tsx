// Shows the history of a room as a table of numbers.
import { Table, Text } from '@mantine/core'
import { useMemo } from 'react'
import type { Sensor } from '../../../../contract/device/models.ts'
import { sensorLabels, sensorNumberText } from '../../../../contract/device/sensor-texts.ts'
import type { HistoryBucket } from '../../../parts/chart/buckets.ts'
import { zonedTime } from '../../../parts/text/time.tsx'
import classes from '../room.module.css'
import { type SpanName, spans } from './history-query.ts'
import { historyRows } from './history-rows.ts'

interface HistoryTableProps {
  readonly buckets: readonly HistoryBucket[]
  readonly sensors: readonly Sensor[]
  readonly span: SpanName
  readonly zone: string
}

export function HistoryTable({ buckets, sensors, span, zone }: HistoryTableProps) {
  const rows = useMemo(() => historyRows(buckets, sensors, spans[span].rowHours, zone), [buckets, sensors, span, zone])
  return (
    <section
      aria-label="History table"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      className={classes.scroller}
    >
      <Table
        stickyHeader
        fz="sm"
        miw={150 + sensors.length * 80}
        horizontalSpacing={6}
        aria-label={`Readings of the last ${span}`}
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th miw={140}>From</Table.Th>
            {sensors.map((sensor) => (
              <Table.Th key={sensor} ta="right">
                {sensorLabels[sensor].name}
                <Text span fz="xs" c="dimmed" display="block">
                  {sensorLabels[sensor].unit}
                </Text>
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ at, values }) => (
            <Table.Tr key={at}>
              <Table.Th scope="row" fw={400}>
                {zonedTime(at, zone)}
              </Table.Th>
              {sensors.map((sensor) => (
                <Table.Td key={sensor} ta="right" style={{ fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' }}>
                  <Values sensor={sensor} statistics={values.get(sensor)} />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  )
}

interface ValuesProps {
  readonly sensor: Sensor
  readonly statistics: { readonly min: number; readonly max: number; readonly mean: number } | undefined
}

function Values({ sensor, statistics }: ValuesProps) {
  if (!statistics)
    return (
      <Text span c="dimmed" fz="sm" aria-label="No data">
        –
      </Text>
    )
  return (
    <>
      {sensorNumberText(sensor, statistics.mean)}
      {statistics.min !== statistics.max && (
        <Text span fz="xs" c="dimmed" display="block">
          {sensorNumberText(sensor, statistics.min)} to {sensorNumberText(sensor, statistics.max)}
        </Text>
      )}
    </>
  )
}
