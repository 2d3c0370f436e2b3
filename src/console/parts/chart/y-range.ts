// The vertical range of a chart: the measured values with a margin, and a limit if it is near.
import type { Sensor } from '../../../contract/device/models.ts'
import type { AirLimit } from '../../../contract/journal/orgs.ts'

interface SensorScale {
  /** The smallest range that is shown, so that noise does not fill the whole height. */
  readonly minSpan: number
  readonly fromZero?: true
}

export const sensorScales: Readonly<Record<Sensor, SensorScale>> = {
  co2: { minSpan: 200 },
  voc: { minSpan: 200 },
  vocIndex: { minSpan: 40 },
  temp: { minSpan: 4 },
  humidity: { minSpan: 10 },
  illumination: { minSpan: 100, fromZero: true },
  people: { minSpan: 4, fromZero: true },
}

/** The range of a chart without values. */
const emptyRange: [number, number] = [0, 1]

export function yRange(
  least: number | null,
  largest: number | null,
  { minSpan, fromZero }: SensorScale,
  limits: AirLimit = {},
): [number, number] {
  if (least === null || largest === null) return emptyRange
  let low = fromZero ? Math.min(0, least) : least
  let high = largest
  const missing = minSpan - (high - low)
  if (missing > 0) {
    high += fromZero ? missing : missing / 2
    low -= fromZero ? 0 : missing / 2
  }
  // A limit that would squeeze the line to less than half of the height is left out.
  const reach = high - low
  if (limits.max !== undefined && limits.max > high && limits.max - high <= reach) high = limits.max
  if (limits.min !== undefined && limits.min < low && low - limits.min <= reach) low = limits.min
  const margin = (high - low) * 0.08
  return [fromZero && low === 0 ? 0 : low - margin, high + margin]
}
