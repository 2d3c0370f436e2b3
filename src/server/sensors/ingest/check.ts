// Decides which samples and values are stored: the times, ranges and sensors that the contract allows. [contract D.41]

import { modelOf, type Sensor, sensorRanges, sensors } from '../../../contract/device/models.ts'
import type { DeviceSample } from '../../../contract/device/protocol.ts'
import { isoTime } from '../../core/clock.ts'
import { acceptedSensors, type DeviceSensors, hasSensor, type SensorSet } from '../../devices/device-sensors.ts'
import { scale } from '../scale.ts'
import type { SampleRow } from './store.ts'

/** A device's clock may be this far ahead. */
export const maxAheadSeconds = 5 * 60

/** The rules by which the values of a device are stored. */
export interface SampleRules {
  readonly accepted: SensorSet
  readonly hasShutter: boolean
  readonly isPresenceOnly: boolean
}

export const sampleRulesOf = (model: string, known: DeviceSensors): SampleRules => ({
  accepted: acceptedSensors(model, known),
  hasShutter: modelOf(model).shutter === true,
  isPresenceOnly: known.isPresenceOnly,
})

/** Returns a sentence for the maker of the device if the sample is refused, else undefined. `now` and `from`, the oldest time, are Unix seconds. */
export function sampleProblem(
  sample: DeviceSample,
  { accepted }: SampleRules,
  now: number,
  from: number,
): string | undefined {
  return timeProblem(sample.timestamp, now, from) ?? valueProblem(sample, accepted)
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

function valueProblem(sample: DeviceSample, accepted: SensorSet): string | undefined {
  let violations: string[] | undefined
  for (const sensor of sensors) {
    const value = sample[sensor]
    if (value === undefined || value === null) continue
    const { min, max, unit } = sensorRanges[sensor]
    if (value >= min && value <= max) continue
    // Values of sensors that the device does not have are not stored, so any number is accepted. [contract D.28]
    if (Number.isFinite(value) && !hasSensor(accepted, sensor)) continue
    violations ??= []
    violations.push(`${sensor} must be from ${min} to ${max} ${unit} and is ${value}`)
  }
  return violations && `The sample was not stored: ${violations.join('; ')}. Do not send it again.`
}

/** Values of sensors that the device does not have are left out; only a Frame has a shutter. [contract 5.2.models] [contract 5.2.shutter] */
export function sampleRowOf(sample: DeviceSample, { accepted, hasShutter, isPresenceOnly }: SampleRules): SampleRow {
  const measured = (sensor: Sensor) => {
    const value = sample[sensor]
    if (value === undefined || value === null || !hasSensor(accepted, sensor)) return null
    return Math.round(value * scale[sensor])
  }
  const people = measured('people')
  const { shutterClosed } = sample
  return {
    timestamp: sample.timestamp,
    co2: measured('co2'),
    humidity: measured('humidity'),
    illumination: measured('illumination'),
    people: isPresenceOnly && people !== null ? Math.min(people, 1) : people,
    temp: measured('temp'),
    voc: measured('voc'),
    voc_index: measured('vocIndex'),
    shutter_closed: hasShutter ? (typeof shutterClosed === 'boolean' ? Number(shutterClosed) : null) : 0,
  }
}
