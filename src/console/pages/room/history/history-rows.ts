// Merges buckets into the rows of the history table: an hour, six hours or a day each.

import type { Sensor } from '../../../../contract/device/models.ts'
import { hourMs } from '../../../../contract/durations.ts'
import { type HistoryBucket, mergeStatistics, type Statistics } from '../../../parts/chart/buckets.ts'
import { timeOfWallClock, wallClockMs } from '../../../parts/text/zoned-time.ts'

interface HistoryRow {
  /** The row starts on a full hour or at midnight in the room's zone; the time is in milliseconds. */
  readonly at: number
  readonly values: ReadonlyMap<Sensor, Statistics>
}

/** The newest row comes first. */
export function historyRows(
  buckets: readonly HistoryBucket[],
  sensors: readonly Sensor[],
  rowHours: number,
  zone: string,
): HistoryRow[] {
  const groups = Map.groupBy(buckets, ({ start }) => startOfRow(Date.parse(start), rowHours, zone))
  return [...groups]
    .map(([at, members]) => ({ at, values: new Map(sensors.flatMap((sensor) => sensorEntry(members, sensor))) }))
    .sort((a, b) => b.at - a.at)
}

/** Rows divide the day of the zone's clock, which has 24 hours also when clocks change. */
function startOfRow(atMs: number, rowHours: number, zone: string): number {
  const rowMs = rowHours * hourMs
  return timeOfWallClock(Math.floor(wallClockMs(atMs, zone) / rowMs) * rowMs, zone)
}

function sensorEntry(buckets: readonly HistoryBucket[], sensor: Sensor): [Sensor, Statistics][] {
  const all = mergeStatistics(buckets.flatMap((bucket) => bucket[sensor] ?? []))
  return all ? [[sensor, all]] : []
}
