// Turns the buckets of a sensor history into lines of a chart; a missing bucket is a gap in the line. [contract 6.sensorHistory]
import type { Sensor } from '../../../contract/device/models.ts'
import { daySeconds } from '../../../contract/durations.ts'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { zonedDays } from '../text/zoned-time.ts'

export type HistoryBucket = NonNullable<ResponseOf<Operations['roomsSensorHistory']>['buckets']>[number]
export type Statistics = NonNullable<HistoryBucket[Sensor]>

type Values = (number | null)[]

/** Times in Unix seconds, then the maximum, minimum and mean at each time. */
export type ChartLines = [times: number[], largest: Values, least: Values, mean: Values]

export const startSeconds = (bucket: HistoryBucket): number => Date.parse(bucket.start) / 1000

export interface TimeSpan {
  /** Unix seconds. */
  readonly from: number
  readonly to: number
  /** The length of a bucket; buckets begin at multiples of it, and those of a day at midnight in the zone. */
  readonly stepSeconds: number
  readonly zone: string
}

/** Every bucket of the span gets a point, null where nothing was measured, so that the cursor shows gaps as gaps. */
export function chartLines(
  buckets: readonly HistoryBucket[],
  sensor: Sensor,
  { from, to, stepSeconds, zone }: TimeSpan,
): ChartLines {
  const known = new Map(buckets.map((bucket) => [startSeconds(bucket), bucket[sensor]]))
  const [times, largest, least, mean]: ChartLines = [[], [], [], []]
  for (const time of bucketStarts({ from, to, stepSeconds, zone })) {
    const statistics = known.get(time)
    times.push(time)
    largest.push(statistics?.max ?? null)
    least.push(statistics?.min ?? null)
    mean.push(statistics?.mean ?? null)
  }
  return [times, largest, least, mean]
}

function bucketStarts({ from, to, stepSeconds, zone }: TimeSpan): number[] {
  if (stepSeconds === daySeconds) return zonedDays(from * 1000, to * 1000, zone).map(({ startMs }) => startMs / 1000)
  const first = Math.floor(from / stepSeconds) * stepSeconds
  return Array.from({ length: Math.max(0, Math.ceil((to - first) / stepSeconds)) }, (_, i) => first + i * stepSeconds)
}

export interface SensorSummary {
  readonly least: number
  readonly largest: number
  readonly latest: number
}

export function summaryOf(buckets: readonly HistoryBucket[], sensor: Sensor): SensorSummary | undefined {
  let summary: SensorSummary | undefined
  for (const bucket of buckets) {
    const statistics = bucket[sensor]
    if (!statistics) continue
    summary = {
      least: Math.min(statistics.min, summary?.least ?? statistics.min),
      largest: Math.max(statistics.max, summary?.largest ?? statistics.max),
      latest: statistics.mean,
    }
  }
  return summary
}

/** Merges several buckets into one. The mean is weighted by the number of samples, so it is exact. */
export function mergeStatistics(parts: readonly Statistics[]): Statistics | undefined {
  const count = parts.reduce((sum, part) => sum + part.count, 0)
  if (count === 0) return undefined
  return {
    min: Math.min(...parts.map((part) => part.min)),
    max: Math.max(...parts.map((part) => part.max)),
    mean: parts.reduce((sum, part) => sum + part.mean * part.count, 0) / count,
    count,
  }
}
