// The air of a room: which of its values are outliers, and how sensors and their values are called.
import { type Sensor, sensorRanges } from '../../../contract/models.ts'
import type { AirLimits } from '../../../contract/session.ts'

export type AirSensor = keyof AirLimits
/** In the order in which people ask. */
export const airSensors: readonly AirSensor[] = ['co2', 'voc', 'temp', 'humidity']

/** Of a sample, what is looked at here. 0 means that nobody measured it. [contract 5.2] */
export type AirSample = Readonly<Record<AirSensor, number>>

export interface Outlier {
  readonly sensor: AirSensor
  readonly value: number
  /** The limit that it is beyond. */
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

/** No room has exactly 0.0 °C or no humidity at all for longer than a moment; without the sensor it has for ever. */
export const isMeasured = (value: number): boolean => value !== 0

/** How far beyond its limit: the larger the worse. */
export const distanceBeyondLimit = ({ value, limit }: Outlier): number => Math.abs(value - limit)

interface SensorLabel {
  readonly name: string
  readonly unit: string
}

export const sensorLabels: Readonly<Record<Sensor, SensorLabel>> = {
  co2: { name: 'CO₂', unit: sensorRanges.co2.unit },
  voc: { name: 'VOC', unit: sensorRanges.voc.unit },
  vocIndex: { name: 'VOC index', unit: '' },
  temp: { name: 'Temperature', unit: sensorRanges.temp.unit },
  humidity: { name: 'Humidity', unit: '%' },
  illumination: { name: 'Light', unit: sensorRanges.illumination.unit },
  people: { name: 'People', unit: '' },
}

/** In the order in which people ask. */
export const allSensors = Object.keys(sensorLabels) as readonly Sensor[]

const oneDecimal = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 1, maximumFractionDigits: 1 })
const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 })

/** "1,240", "21.5": without the unit, for a column that names it once. */
export const sensorNumberText = (sensor: Sensor, value: number): string =>
  (sensor === 'temp' || sensor === 'humidity' ? oneDecimal : whole).format(value)

/** "1,240 ppm", "21.5 °C". */
export const sensorValueText = (sensor: Sensor, value: number): string =>
  `${sensorNumberText(sensor, value)} ${sensorLabels[sensor].unit}`.trimEnd()

/** "over 1,000 ppm": on which side of its limit it is. */
export const outlierText = ({ sensor, value, limit }: Outlier): string =>
  `${value > limit ? 'over' : 'under'} ${sensorValueText(sensor, limit)}`

/** "over 1,000 ppm", "under 18 or over 27 °C": what counts as an outlier; undefined if nothing does. */
export function limitText(sensor: AirSensor, limits: AirLimits): string | undefined {
  const { min, max } = limits[sensor]
  const sides = [
    ...(min === undefined ? [] : [`under ${min.toLocaleString('en-GB')}`]),
    ...(max === undefined ? [] : [`over ${max.toLocaleString('en-GB')}`]),
  ]
  return sides.length === 0 ? undefined : `${sides.join(' or ')}\u00a0${sensorLabels[sensor].unit}`
}
