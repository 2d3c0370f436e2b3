// Lists the sensors that the devices of a room have. [contract 5.1.models]
import { modelOf, type Sensor, sensorsOf } from '../../../contract/device/models.ts'
import { allSensors } from '../../../contract/device/sensor-texts.ts'

export function roomSensors(devices: readonly Parameters<typeof sensorsOf>[0][]) {
  return {
    sensors: sortSensors(new Set(devices.flatMap(sensorsOf))),
    hasShutter: devices.some(({ model }) => modelOf(model).shutter === true),
  }
}

export const sortSensors = (subset: ReadonlySet<Sensor>): Sensor[] => allSensors.filter((sensor) => subset.has(sensor))
