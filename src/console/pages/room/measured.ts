// Which sensors a room has: in the sample of a room, 0 stands for what nobody measured, so the models decide. [contract 5.2]
import { modelOf, type Sensor } from '../../../contract/models.ts'
import { allSensors } from '../../domain/air/air.ts'

interface Sensing {
  readonly model: string
  readonly connected: boolean
}

export function sensorsIn(devices: readonly Sensing[]) {
  const sensorsOf = (some: readonly Sensing[]) => new Set(some.flatMap(({ model }) => modelOf(model).sensors))
  const all = sensorsOf(devices)
  return {
    sensors: allSensors.filter((sensor) => all.has(sensor)),
    connectedSensors: sensorsOf(devices.filter(({ connected }) => connected)),
    hasShutter: devices.some(({ model }) => modelOf(model).shutter === true),
  }
}

export const inAskedOrder = (some: ReadonlySet<Sensor>): Sensor[] => allSensors.filter((sensor) => some.has(sensor))

/** What can be nothing at all: a dark room, an empty one, clean air, frost. There is always some CO₂ and some humidity. */
const canBeZero: ReadonlySet<Sensor> = new Set(['people', 'illumination', 'temp', 'voc'])

export const isReal = (sensor: Sensor, value: number, connectedSensors: ReadonlySet<Sensor>): boolean =>
  value !== 0 || (canBeZero.has(sensor) && connectedSensors.has(sensor))
