// What devices measured: checked, written together with what others sent, and durable before it is acknowledged. [contract 5.2]
import type { DeviceSample, SampleRefused } from '../../contract/device.ts'
import { type Model, modelOf, type Sensor, sensorRanges } from '../../contract/models.ts'
import type { Session } from '../../link/handlers.ts'
import type { Ground } from '../../platform/by.ts'
import { kept } from './retention.ts'
import { scale } from './scale.ts'
import { insertSamples, numberOfEndpoint, type SampleRow, updateLatest } from './store.ts'

/** How far ahead a device's clock may be, in seconds. */
const mostAhead = 5 * 60

/**
 * Resolves when every accepted sample is committed; what was refused, and why, is for the device to read. What has the
 * time of a sample that is there already changes nothing; what comes late goes to the history only.
 */
export async function samplesReceived(
  { db, clock }: Ground,
  { device }: Session,
  { samples }: { samples: readonly DeviceSample[] },
): Promise<SampleRefused | undefined> {
  const now = Math.floor(clock.now() / 1000)
  const model = modelOf(device.model)
  const rows: SampleRow[] = []
  const refused: SampleRefused['refused'] = []
  for (const sample of samples) {
    const reason = timeProblem(sample.timestamp, now) ?? valueProblem(sample, model)
    if (reason === undefined) rows.push(rowOf(sample, model))
    else refused.push({ timestamp: sample.timestamp, reason })
  }
  const [first, ...others] = rows
  if (first) {
    const newest = others.reduce((a, b) => (b.timestamp > a.timestamp ? b : a), first)
    // Nothing is awaited before this: messages get in line in the order in which they came.
    await db.telemetry(async (on) => {
      const number = await numberOfEndpoint(on, device.org.key, device.id)
      // It was unenrolled meanwhile: nobody could ask for what it measured.
      if (number === undefined) return
      await insertSamples(on, device.org.key, number, rows)
      await updateLatest(on, device.org.key, device.id, newest)
    })
  }
  return refused.length > 0 ? { refused } : undefined
}

function timeProblem(timestamp: number, now: number): string | undefined {
  if (timestamp > now + mostAhead) {
    return `The timestamp is ${timestamp - now} seconds ahead of the service, which allows ${mostAhead}. Set the clock of the device.`
  }
  if (timestamp < now - kept) {
    return `The sample is older than ${kept / 86_400} days, and older samples are not kept. Do not send it again.`
  }
  return undefined
}

function valueProblem(sample: DeviceSample, model: Model): string | undefined {
  const wrong = model.sensors.flatMap((sensor) => {
    const value = sample[sensor] ?? undefined
    const { min, max, unit } = sensorRanges[sensor]
    if (value === undefined || (value >= min && value <= max)) return []
    return [`${sensor} must be from ${min} to ${max} ${unit} and is ${value}`]
  })
  return wrong.length > 0 ? `The sample is not kept: ${wrong.join('; ')}. Do not send it again.` : undefined
}

/** Only what the model can measure; only a Frame has a shutter to close. [contract 5.2.models] [contract 5.2.shutter] */
function rowOf(sample: DeviceSample, model: Model): SampleRow {
  const { timestamp, shutterClosed = null } = sample
  const measured = (sensor: Sensor) => {
    const value = model.sensors.includes(sensor) ? (sample[sensor] ?? null) : null
    return value === null ? null : Math.round(value * scale[sensor])
  }
  return {
    timestamp,
    co2: measured('co2'),
    humidity: measured('humidity'),
    illumination: measured('illumination'),
    people: measured('people'),
    temp: measured('temp'),
    voc: measured('voc'),
    voc_index: measured('vocIndex'),
    shutter_closed: model.shutter ? (shutterClosed === null ? null : Number(shutterClosed)) : 0,
  }
}
