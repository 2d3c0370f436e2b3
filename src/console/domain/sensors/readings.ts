// Tells readings from values that were not measured, and writes the number of people in words where it is not a head count.
import type { Sensor } from '../../../contract/device/models.ts'
import type { SensorData } from '../../../contract/sensors/sensors.ts'

/** These sensors can truly read 0: in an empty or dark room, in frost, in clean air. CO₂ and humidity are never 0. */
const canBeZero: ReadonlySet<Sensor> = new Set(['people', 'illumination', 'temp', 'voc'])

/** A value that was not measured is 0 in a sample. [contract 5.2.measured] */
export const isReading = (sensor: Sensor, { data, measured = [] }: SensorData): boolean =>
  measured.includes(sensor) && (data[0]?.[sensor] !== 0 || canBeZero.has(sensor))

/** "4", or "In use" and "Empty" where the number is presence. */
export function peopleText(people: number, peopleIs: 'COUNT' | 'PRESENCE' | undefined): string {
  if (peopleIs === 'PRESENCE') return people > 0 ? 'In use' : 'Empty'
  return people.toLocaleString('en-GB')
}
