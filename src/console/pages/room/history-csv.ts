// The history that is shown as a file, with the columns that the API's own CSV has. [contract 6.sensorHistory]
import type { Sensor } from '../../../contract/models.ts'
import type { HistoryBucket } from '../../parts/chart/buckets.ts'
import { saveFile } from '../../parts/page/save-file.ts'

const columns = ['min', 'max', 'mean', 'count'] as const

export function csvOf(buckets: readonly HistoryBucket[], sensors: readonly Sensor[]): string {
  const head = ['start', ...sensors.flatMap((sensor) => columns.map((column) => `${sensor}_${column}`))]
  const rows = buckets.map((bucket) => [
    bucket.start,
    ...sensors.flatMap((sensor) => columns.map((column) => bucket[sensor]?.[column] ?? '')),
  ])
  return [head, ...rows].map((row) => `${row.join(',')}\r\n`).join('')
}

export const downloadCsv = (name: string, buckets: readonly HistoryBucket[], sensors: readonly Sensor[]): void =>
  saveFile(new Blob([csvOf(buckets, sensors)], { type: 'text/csv' }), name)
