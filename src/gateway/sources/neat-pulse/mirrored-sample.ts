// Turns a sample of Neat Pulse into one of ours: a 0 of what the device did not measure is left out.
import { modelOf, type Sensor, sensorRanges, sensors } from '../../../contract/device/models.ts'
import type { DeviceSample } from '../../../contract/device/protocol.ts'
import type { DeviceSensorData, PulseDevice } from './answers.ts'

/** These values are never 0 in a room. */
const neverZero: readonly Sensor[] = ['co2', 'humidity', 'temp']

/** Undefined if the sample has no time, or no value. */
export function mirroredSample(
  { model, fields }: PulseDevice,
  { sample, beside }: DeviceSensorData,
): DeviceSample | undefined {
  const timestamp = Number(sample.timestamp)
  if (!Number.isSafeInteger(timestamp) || timestamp <= 0) return undefined
  const { shutter, sensors: ofModel } = modelOf(model)
  const named = namedSensors(beside.measured) ?? ofModel ?? namedSensors(fields.sensors)
  const values = sensors.flatMap((sensor): [Sensor, number][] => {
    const value = numberOf(sample[sensor])
    if (value === undefined || (value === 0 && neverZero.includes(sensor))) return []
    // A value that the model lacks is 0. Any other value was measured, even if the table of models is out of date.
    const isMeasured = value !== 0 || (named?.includes(sensor) ?? false)
    const { min, max } = sensorRanges[sensor]
    return isMeasured && value >= min && value <= max ? [[sensor, value]] : []
  })
  const closed = beside.shutterClosed ?? sample.ShutterClosed
  const hasShutter = shutter === true && typeof closed === 'boolean'
  if (values.length === 0 && !hasShutter) return undefined
  return { timestamp, ...Object.fromEntries(values), ...(hasShutter && { shutterClosed: closed }) }
}

const namedSensors = (value: unknown): readonly unknown[] | undefined => (Array.isArray(value) ? value : undefined)

/** Some services write numbers as texts. */
function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}
