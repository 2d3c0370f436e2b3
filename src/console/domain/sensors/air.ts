// Air quality: which values are outside the limits, and how limits are shown.
import { sensorLabels, sensorValueText } from '../../../contract/device/sensor-texts.ts'
import type { AirLimits } from '../../../contract/journal/orgs.ts'

export type AirSensor = keyof AirLimits
/** The console shows them in this order. */
export const airSensors: readonly AirSensor[] = ['co2', 'voc', 'temp', 'humidity']

/** The air values of a sample. 0 means that the device does not measure the value. [contract 5.2] */
export type AirSample = Readonly<Record<AirSensor, number>>

export interface Outlier {
  readonly sensor: AirSensor
  readonly value: number
  /** The limit that the value exceeds or falls below. */
  readonly limit: number
}

export function airOutliers(sample: AirSample, limits: AirLimits): Outlier[] {
  const found: Outlier[] = []
  for (const sensor of airSensors) {
    const value = sample[sensor]
    const { min, max } = limits[sensor]
    if (!isMeasured(value)) continue
    if (max !== undefined && value > max) found.push({ sensor, value, limit: max })
    else if (min !== undefined && value < min) found.push({ sensor, value, limit: min })
  }
  return found
}

/** A device reports 0 for a sensor that it does not have. A real 0.0 °C or 0 % humidity does not last in a room. */
export const isMeasured = (value: number): boolean => value !== 0

/** How far the value is beyond its limit; a larger distance is worse. */
export const distanceBeyondLimit = ({ value, limit }: Outlier): number => Math.abs(value - limit)

/** "over 1,000 ppm": the side of the limit on which the value is. */
export const outlierText = ({ sensor, value, limit }: Outlier): string =>
  `${value > limit ? 'over' : 'under'} ${sensorValueText(sensor, limit)}`

/** "over 1,000 ppm", "under 18 or over 27 °C": the values that count as outliers; undefined without a limit. */
export function limitText(sensor: AirSensor, limits: AirLimits): string | undefined {
  const { min, max } = limits[sensor]
  const sides = [
    ...(min === undefined ? [] : [`under ${min.toLocaleString('en-GB')}`]),
    ...(max === undefined ? [] : [`over ${max.toLocaleString('en-GB')}`]),
  ]
  return sides.length === 0 ? undefined : `${sides.join(' or ')}\u00a0${sensorLabels[sensor].unit}`
}
