// Shows the history of a room as a table of numbers.
import { Text } from '@mantine/core'
import { useMemo } from 'react'
import type { Sensor } from '../../../../contract/device/models.ts'
import { sensorLabels, sensorNumberText } from '../../../../contract/device/sensor-texts.ts'
import type { HistoryBucket } from '../../../parts/chart/buckets.ts'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { zonedTime } from '../../../parts/text/time.tsx'
import type { HistoryPeriod } from './history-query.ts'
import { historyRows } from './history-rows.ts'

interface HistoryTableProps {
  readonly buckets: readonly HistoryBucket[]
  readonly sensors: readonly Sensor[]
  readonly period: HistoryPeriod
}

export function HistoryTable({ buckets, sensors, period: { phrase, rowHours, zone } }: HistoryTableProps) {
  const rows = useMemo(() => historyRows(buckets, sensors, rowHours, zone), [buckets, sensors, rowHours, zone])
  const columns = useMemo(() => columnsOf(sensors, zone), [sensors, zone])
  return (
    <DataTable
      label={`Readings of ${phrase}`}
      rows={rows}
      columns={columns}
      keyOf={({ at }) => at}
      minWidthPx={150 + sensors.length * 80}
      maxHeightPx={480}
    />
  )
}

const columnsOf = (sensors: readonly Sensor[], zone: string): readonly Column<HistoryRow>[] => [
  { id: 'from', title: 'From', cell: ({ at }) => zonedTime(at, zone) },
  ...sensors.map(
    (sensor): Column<HistoryRow> => ({
      id: sensor,
      title: `${sensorLabels[sensor].name}, ${sensorLabels[sensor].unit}`,
      isNumber: true,
      sortValue: ({ values }) => values.get(sensor)?.mean ?? null,
      cell: ({ values }) => <Values sensor={sensor} statistics={values.get(sensor)} />,
    }),
  ),
]

type HistoryRow = ReturnType<typeof historyRows>[number]

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
