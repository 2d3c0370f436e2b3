// Computes the sample of a room from the latest samples of its devices, as the server does. [contract 5.2.aggregate]
import { type Sensor, sensors } from '../../contract/device/models.ts'
import { peopleIsOf } from '../../contract/fleet/rooms.ts'
import type { SensorData } from '../../contract/sensors/sensors.ts'

export interface EventSample {
  readonly sample: SensorData['data'][number]
  /** The values that were measured; the others are 0. */
  readonly measured: readonly Sensor[]
}

export interface MeasuredSample extends EventSample {
  /** Its `people` is presence: 1 or 0. */
  readonly isPresenceOnly: boolean
}

/** There is at least one sample. */
export function aggregateSamples(samples: readonly MeasuredSample[]): SensorData {
  const valuesOf = (sensor: Sensor, from = samples) =>
    from.filter(({ measured }) => measured.includes(sensor)).map(({ sample }) => sample[sensor])
  const mean = (sensor: Sensor, decimals = 0) => {
    const values = valuesOf(sensor)
    if (values.length === 0) return 0
    const factor = 10 ** decimals
    return Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * factor) / factor
  }
  const mostPeople = (from = samples) => {
    const values = valuesOf('people', from)
    return values.length === 0 ? null : Math.max(...values)
  }
  const people = mostPeople()
  const peopleIs = peopleIsOf(people, mostPeople(samples.filter(({ isPresenceOnly }) => !isPresenceOnly)))
  const shutterClosed = samples.some(({ sample }) => sample.ShutterClosed === true)
  return {
    data: [
      {
        co2: mean('co2'),
        humidity: mean('humidity', 1),
        illumination: mean('illumination'),
        people: people ?? 0,
        temp: mean('temp', 1),
        voc: mean('voc'),
        vocIndex: mean('vocIndex'),
        timestamp: String(Math.max(...samples.map(({ sample }) => Number(sample.timestamp)))),
        ShutterClosed: shutterClosed,
      },
    ],
    shutterClosed,
    measured: sensors.filter((sensor) => valuesOf(sensor).length > 0),
    ...(peopleIs && { peopleIs }),
  }
}
