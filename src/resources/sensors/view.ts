// A sample as answers show it: every field is there, 0 where nothing was measured. [contract 5.2]
import type { SensorData } from '../../contract/sensors.ts'
import { scale } from './scale.ts'
import type { SampleRow } from './store.ts'

/** How long the latest sample of an endpoint counts for its room, in seconds. [contract 5.2.aggregate] */
const freshness = 15 * 60

/** The oldest timestamp that still counts for a room, in Unix seconds. */
export const freshSince = (now: number): number => Math.ceil(now / 1000 - freshness)

/** Under the legacy base the shutter is beside the sample only: a client there fails on a ninth key. [contract 5.2.shutter] */
export function sensorDataView(row: SampleRow, legacy: boolean): SensorData {
  const shutterClosed = row.shutter_closed === 1
  const sample: SensorData['data'][number] = {
    co2: row.co2 ?? 0,
    humidity: (row.humidity ?? 0) / scale.humidity,
    illumination: row.illumination ?? 0,
    people: row.people ?? 0,
    temp: (row.temp ?? 0) / scale.temp,
    voc: row.voc ?? 0,
    vocIndex: row.voc_index ?? 0,
    timestamp: String(row.timestamp),
  }
  if (!legacy) sample.ShutterClosed = shutterClosed
  return { data: [sample], shutterClosed }
}
