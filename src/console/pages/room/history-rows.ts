// Buckets put together to as many rows as a person reads: hours of a day, quarters of the days of a week, days of a month.
import type { Sensor } from '../../../contract/models.ts'
import { type HistoryBucket, mergeStatistics, type Statistics } from '../../parts/chart/buckets.ts'

interface HistoryRow {
  /** Milliseconds, in the viewer's zone at the beginning of an hour or day. */
  readonly at: number
  readonly values: ReadonlyMap<Sensor, Statistics>
}

/** Newest first. */
export function historyRows(
  buckets: readonly HistoryBucket[],
  sensors: readonly Sensor[],
  hours: number,
): HistoryRow[] {
  const groups = Map.groupBy(buckets, ({ start }) => beginOf(new Date(start), hours))
  return [...groups]
    .map(([at, members]) => ({ at, values: new Map(sensors.flatMap((sensor) => joinedOf(members, sensor))) }))
    .sort((a, b) => b.at - a.at)
}

const beginOf = (time: Date, hours: number): number =>
  new Date(time.getFullYear(), time.getMonth(), time.getDate(), time.getHours() - (time.getHours() % hours)).getTime()

function joinedOf(buckets: readonly HistoryBucket[], sensor: Sensor): [Sensor, Statistics][] {
  const all = mergeStatistics(buckets.flatMap((bucket) => bucket[sensor] ?? []))
  return all ? [[sensor, all]] : []
}
