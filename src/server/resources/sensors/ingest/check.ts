// Which samples are kept, and what of them: the times, ranges and sensors that the contract allows. [contract D.41]
import type { DeviceSample } from '../../../../contract/device.ts'
import { type Model, type Sensor, sensorRanges, sensors } from '../../../../contract/models.ts'
import { isoTime } from '../../../core/clock.ts'
import { scale } from '../scale.ts'
import type { SampleRow } from './store.ts'

/** How far ahead a device's clock may be, in seconds. */
export const maxAheadSeconds = 5 * 60

/** Why it is not kept, in a sentence for the maker of the device; undefined if it is. Samples are taken from `from` on; in Unix seconds. */
export function sampleProblem(sample: DeviceSample, model: Model, now: number, from: number): string | undefined {
  return timeProblem(sample.timestamp, now, from) ?? valueProblem(sample, model)
}

function timeProblem(timestamp: number, now: number, from: number): string | undefined {
  if (timestamp > now + maxAheadSeconds) {
    return `The timestamp is ${timestamp - now} seconds ahead of the service, which allows ${maxAheadSeconds}. Set the clock of the device.`
  }
  if (timestamp < from) {
    return `The sample is from before ${isoTime(from * 1000)}, and nothing older is kept. Do not send it again.`
  }
  return undefined
}

function valueProblem(sample: DeviceSample, model: Model): string | undefined {
  let wrong: string[] | undefined
  for (const sensor of sensors) {
    const value = sample[sensor]
    if (value === undefined || value === null) continue
    const { min, max, unit } = sensorRanges[sensor]
    if (value >= min && value <= max) continue
    // What the model does not have is not kept, so it may be anything that is a number. [contract D.28]
    if (Number.isFinite(value) && !model.sensors.includes(sensor)) continue
    wrong ??= []
    wrong.push(`${sensor} must be from ${min} to ${max} ${unit} and is ${value}`)
  }
  return wrong && `The sample is not kept: ${wrong.join('; ')}. Do not send it again.`
}

/** Only what the model can measure; only a Frame has a shutter to close. [contract 5.2.models] [contract 5.2.shutter] */
export function sampleRowOf(sample: DeviceSample, model: Model): SampleRow {
  const measured = (sensor: Sensor) => {
    const value = sample[sensor]
    if (value === undefined || value === null || !model.sensors.includes(sensor)) return null
    return Math.round(value * scale[sensor])
  }
  const { shutterClosed } = sample
  return {
    timestamp: sample.timestamp,
    co2: measured('co2'),
    humidity: measured('humidity'),
    illumination: measured('illumination'),
    people: measured('people'),
    temp: measured('temp'),
    voc: measured('voc'),
    voc_index: measured('vocIndex'),
    shutter_closed: model.shutter ? (typeof shutterClosed === 'boolean' ? Number(shutterClosed) : null) : 0,
  }
}
