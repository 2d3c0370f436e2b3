// Writes a sample as JSON: every field is present, with 0 where nothing was measured. [contract 5.2]

import type { Static } from 'typebox'
import type { Sample } from '../../../contract/sensors.ts'
import type { Services } from '../../context/services.ts'
import type { SampleRow } from './ingest/store.ts'
import { scale } from './scale.ts'

/** The oldest timestamp that still counts for a room, in Unix seconds. [contract 5.2.aggregate] */
export const freshSince = ({ clock, settings }: Pick<Services, 'clock' | 'settings'>): number =>
  Math.ceil(clock.now() / 1000 - settings.freshness)

/**
 * The entry of one endpoint in the bulk answer; `text` is its `SensorData`, or null. `join` copies the parts into one string.
 * A template would leave a tree of parts that every answer walks again: the bench row `bulk` then takes 5x instead of 1x.
 */
export const entryText = (id: string, text: string): string => ['{"id":"', id, '","endpointData":', text, '}'].join('')

/**
 * `SensorData` as JSON, written by hand: ten thousand of them are one answer, and this takes less than half the time.
 * Under the legacy base the shutter is beside the sample only: a client there fails on a ninth key.
 * [contract 5.2.shutter]
 */
export function sampleText(row: SampleRow, legacy: boolean): string {
  return `{"data":[${sensorValuesText(row, legacy)}],"shutterClosed":${row.shutter_closed === 1}}`
}

function sensorValuesText(row: SampleRow, legacy: boolean): string {
  const shutter = row.shutter_closed === 1
  const inside = legacy ? '' : `,"ShutterClosed":${shutter}`
  const climate = `"co2":${row.co2 ?? 0},"humidity":${(row.humidity ?? 0) / scale.humidity}`
  const presence = `"illumination":${row.illumination ?? 0},"people":${row.people ?? 0}`
  const air = `"temp":${(row.temp ?? 0) / scale.temp},"voc":${row.voc ?? 0},"vocIndex":${row.voc_index ?? 0}`
  return `{${climate},${presence},${air},"timestamp":"${row.timestamp}"${inside}}`
}

export const sampleView = (row: SampleRow): Static<typeof Sample> => JSON.parse(sensorValuesText(row, false))
