// Merges buckets into the rows of the history table: an hour, six hours or a day each.
import type { Sensor } from '../../../../contract/device/models.ts'
import { type HistoryBucket, mergeStatistics, type Statistics } from '../../../parts/chart/buckets.ts'

interface HistoryRow {
  /** The row starts on a full hour or at midnight in the viewer's zone; the time is in milliseconds. */
  readonly at: number
  readonly values: ReadonlyMap<Sensor, Statistics>
}

/** The newest row comes first. */
export function historyRows(
  buckets: readonly HistoryBucket[],
  sensors: readonly Sensor[],
  rowHours: number,
): HistoryRow[] {
  const groups = Map.groupBy(buckets, ({ start }) => startOfRow(new Date(start), rowHours))
  return [...groups]
    .map(([at, members]) => ({ at, values: new Map(sensors.flatMap((sensor) => sensorEntry(members, sensor))) }))
    .sort((a, b) => b.at - a.at)
}

const startOfRow = (time: Date, rowHours: number): number =>
  new Date(
    time.getFullYear(),
    time.getMonth(),
    time.getDate(),
    time.getHours() - (time.getHours() % rowHours),
  ).getTime()

function sensorEntry(buckets: readonly HistoryBucket[], sensor: Sensor): [Sensor, Statistics][] {
  const all = mergeStatistics(buckets.flatMap((bucket) => bucket[sensor] ?? []))
  return all ? [[sensor, all]] : []
}
