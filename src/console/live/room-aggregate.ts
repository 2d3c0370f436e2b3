// Computes the sample of a room from the latest samples of its devices, as the server does. [contract 5.2.aggregate]
import { modelOf, type Sensor } from '../../contract/device/models.ts'
import type { SensorData } from '../../contract/sensors/sensors.ts'

export type EventSample = SensorData['data'][number]

export interface ModelSample {
  readonly model: string
  readonly sample: EventSample
}

/** In an event a value that was not measured is 0. People and light can truly be 0. */
const isMeasuredBy = ({ model, sample }: ModelSample, sensor: Sensor) =>
  modelOf(model).sensors.includes(sensor) && (sample[sensor] !== 0 || sensor === 'people' || sensor === 'illumination')

/** There is at least one sample. */
export function aggregateSamples(samples: readonly ModelSample[]): SensorData {
  const valuesOf = (sensor: Sensor) =>
    samples.filter((one) => isMeasuredBy(one, sensor)).map((one) => one.sample[sensor])
  const mean = (sensor: Sensor, decimals = 0) => {
    const values = valuesOf(sensor)
    if (values.length === 0) return 0
    const factor = 10 ** decimals
    return Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * factor) / factor
  }
  const shutterClosed = samples.some(({ sample }) => sample.ShutterClosed === true)
  return {
    data: [
      {
        co2: mean('co2'),
        humidity: mean('humidity', 1),
        illumination: mean('illumination'),
        people: Math.max(0, ...valuesOf('people')),
        temp: mean('temp', 1),
        voc: mean('voc'),
        vocIndex: mean('vocIndex'),
        timestamp: String(Math.max(...samples.map(({ sample }) => Number(sample.timestamp)))),
        ShutterClosed: shutterClosed,
      },
    ],
    shutterClosed,
  }
}

export const countsPeople = (samples: readonly ModelSample[]): boolean =>
  samples.some(({ model }) => modelOf(model).sensors.includes('people'))
