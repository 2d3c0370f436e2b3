// Saves the history that is shown as a file, with the columns of the API's own CSV. [contract 6.sensorHistory]
import { csvRow } from '../../../../contract/csv.ts'
import type { Sensor } from '../../../../contract/device/models.ts'
import type { HistoryBucket } from '../../../parts/chart/buckets.ts'
import { saveFile } from '../../../parts/page/save-file.ts'

const columns = ['min', 'max', 'mean', 'count'] as const

export function historyCsv(buckets: readonly HistoryBucket[], sensors: readonly Sensor[]): string {
  const header = ['start', ...sensors.flatMap((sensor) => columns.map((column) => `${sensor}_${column}`))]
  const rows = buckets.map((bucket) => [
    bucket.start,
    ...sensors.flatMap((sensor) => columns.map((column) => String(bucket[sensor]?.[column] ?? ''))),
  ])
  return [header, ...rows].map(csvRow).join('')
}

export const downloadHistoryCsv = (name: string, buckets: readonly HistoryBucket[], sensors: readonly Sensor[]): void =>
  saveFile(new Blob([historyCsv(buckets, sensors)], { type: 'text/csv' }), name)
