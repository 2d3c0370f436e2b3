// The vertical range of a chart: the values that are usual, the measured ones with a margin, and a limit if it is near.
import type { Sensor } from '../../../contract/device/models.ts'
import type { AirLimit } from '../../../contract/journal/orgs.ts'

interface SensorScale {
  /**
   * Always shown: noise does not fill the whole height, and most rooms have the same scale. It starts at zero where zero means nothing;
   * outdoor air has 420 ppm of CO₂, and no office has 0 °C.
   */
  readonly usual: readonly [low: number, high: number]
  /** People are whole numbers, which do not pass through the values between: they are drawn as steps. */
  readonly isCount?: true
}

export const sensorScales: Readonly<Record<Sensor, SensorScale>> = {
  co2: { usual: [400, 1000] },
  voc: { usual: [0, 1000] },
  vocIndex: { usual: [0, 250] },
  temp: { usual: [18, 26] },
  humidity: { usual: [20, 60] },
  illumination: { usual: [0, 500] },
  people: { usual: [0, 4], isCount: true },
}

/** The range of a chart without values. */
const emptyRange: [number, number] = [0, 1]

export function yRange(
  least: number | null,
  largest: number | null,
  { usual: [usualLow, usualHigh] }: SensorScale,
  limits: AirLimit = {},
): [number, number] {
  if (least === null || largest === null) return emptyRange
  let [low, high] = [Math.min(usualLow, least), Math.max(usualHigh, largest)]
  // A limit that would squeeze the line to less than half of the height is left out.
  const reach = high - low
  if (limits.max !== undefined && limits.max > high && limits.max - high <= reach) high = limits.max
  if (limits.min !== undefined && limits.min < low && low - limits.min <= reach) low = limits.min
  const margin = (high - low) * 0.08
  return [low === 0 ? 0 : low - margin, high + margin]
}
