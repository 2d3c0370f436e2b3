// Buckets of a history as lines of a chart: a bucket that is missing is a gap, never a guess. [contract 6.sensorHistory]
import type { Sensor } from '../../../contract/models.ts'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'

export type HistoryBucket = NonNullable<ResponseOf<Operations['roomsSensorHistory']>['buckets']>[number]
export type Statistics = NonNullable<HistoryBucket[Sensor]>

type Values = (number | null)[]

/** Times in Unix seconds, then the largest, the least and the mean value at each. */
export type ChartLines = [times: number[], largest: Values, least: Values, mean: Values]

export const startSeconds = (bucket: HistoryBucket): number => Date.parse(bucket.start) / 1000

export interface TimeSpan {
  /** Unix seconds. */
  readonly from: number
  readonly to: number
  /** The length of a bucket in seconds; buckets begin at multiples of it. */
  readonly stepSeconds: number
}

/** Every place of the span is there, so that the cursor finds nothing where nothing is. */
export function chartLines(
  buckets: readonly HistoryBucket[],
  sensor: Sensor,
  { from, to, stepSeconds }: TimeSpan,
): ChartLines {
  const known = new Map(buckets.map((bucket) => [startSeconds(bucket), bucket[sensor]]))
  const [times, largest, least, mean]: ChartLines = [[], [], [], []]
  for (let time = Math.floor(from / stepSeconds) * stepSeconds; time < to; time += stepSeconds) {
    const of = known.get(time)
    times.push(time)
    largest.push(of?.max ?? null)
    least.push(of?.min ?? null)
    mean.push(of?.mean ?? null)
  }
  return [times, largest, least, mean]
}

export interface SensorSummary {
  readonly least: number
  readonly largest: number
  readonly latest: number
}

export function summaryOf(buckets: readonly HistoryBucket[], sensor: Sensor): SensorSummary | undefined {
  let summary: SensorSummary | undefined
  for (const bucket of buckets) {
    const of = bucket[sensor]
    if (!of) continue
    summary = {
      least: Math.min(of.min, summary?.least ?? of.min),
      largest: Math.max(of.max, summary?.largest ?? of.max),
      latest: of.mean,
    }
  }
  return summary
}

/** Several buckets as one, exactly: every sample counts once. */
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
