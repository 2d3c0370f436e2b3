// Lists the sensors of a room by the models of its devices, because 0 in a room sample can mean "not measured". [contract 5.2]
import { modelOf, type Sensor } from '../../../contract/device/models.ts'
import { allSensors } from '../../../contract/device/sensor-texts.ts'

interface SensorDevice {
  readonly model: string
  readonly connected: boolean
}

export function roomSensors(devices: readonly SensorDevice[]) {
  const sensorsOf = (subset: readonly SensorDevice[]) => new Set(subset.flatMap(({ model }) => modelOf(model).sensors))
  const all = sensorsOf(devices)
  return {
    sensors: allSensors.filter((sensor) => all.has(sensor)),
    connectedSensors: sensorsOf(devices.filter(({ connected }) => connected)),
    hasShutter: devices.some(({ model }) => modelOf(model).shutter === true),
  }
}

export const sortSensors = (subset: ReadonlySet<Sensor>): Sensor[] => allSensors.filter((sensor) => subset.has(sensor))

/** These sensors can truly read 0: in an empty or dark room, in frost, in clean air. CO₂ and humidity are never 0. */
const canBeZero: ReadonlySet<Sensor> = new Set(['people', 'illumination', 'temp', 'voc'])

export const isReading = (sensor: Sensor, value: number, connectedSensors: ReadonlySet<Sensor>): boolean =>
  value !== 0 || (canBeZero.has(sensor) && connectedSensors.has(sensor))
