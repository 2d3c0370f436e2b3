// The names of sensors and their values for people: the console shows them, and so do incidents and messages.
import { type Sensor, sensorRanges } from './models.ts'

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

/** The console shows them in this order. */
export const allSensors = Object.keys(sensorLabels) as readonly Sensor[]

const oneDecimal = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 1, maximumFractionDigits: 1 })
const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 })

/** "1,240", "21.5": the value without its unit, for a column whose heading has the unit. */
export const sensorNumberText = (sensor: Sensor, value: number): string =>
  (sensor === 'temp' || sensor === 'humidity' ? oneDecimal : whole).format(value)

/** "1,240 ppm", "21.5 °C". */
export const sensorValueText = (sensor: Sensor, value: number): string =>
  `${sensorNumberText(sensor, value)} ${sensorLabels[sensor].unit}`.trimEnd()
