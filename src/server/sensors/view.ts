// Samples as callers see them: every field is present, with 0 where nothing was measured. Bulk answers are text (see json-writer.ts). [contract 5.2]

import type { Static } from 'typebox'
import type { Sample, SensorData } from '../../contract/sensors/sensors.ts'
import type { SampleRow } from './ingest/store.ts'
import { flatText, scaledText } from './json-writer.ts'
import { scale } from './scale.ts'

/** The entry of one endpoint in the bulk answer; `text` is its `SensorData`, or null. */
export const endpointEntryText = (id: string, text: string): string =>
  flatText('{"id":"', id, '","endpointData":', text, '}')

export const roomEntryText = (id: number, text: string): string => `{"id":${id},"roomData":${text}}`

/** Writes the JSON of `sensorDataView` without making the object (bench row `bulk`); view.test.ts compares the two. */
export function sensorDataText(row: SampleRow, legacy: boolean): string {
  const shutter = row.shutter_closed === 1
  const shutterField = legacy ? '' : `,"ShutterClosed":${shutter}`
  const climate = `"co2":${row.co2 ?? 0},"humidity":${scaledText(row.humidity ?? 0, scale.humidity)}`
  const presence = `"illumination":${row.illumination ?? 0},"people":${row.people ?? 0}`
  const air = `"temp":${scaledText(row.temp ?? 0, scale.temp)},"voc":${row.voc ?? 0},"vocIndex":${row.voc_index ?? 0}`
  return `{"data":[{${climate},${presence},${air},"timestamp":"${row.timestamp}"${shutterField}}],"shutterClosed":${shutter}}`
}

/** The sample as it is in an event. */
export const sampleView = (row: SampleRow): Static<typeof Sample> => ({
  co2: row.co2 ?? 0,
  humidity: (row.humidity ?? 0) / scale.humidity,
  illumination: row.illumination ?? 0,
  people: row.people ?? 0,
  temp: (row.temp ?? 0) / scale.temp,
  voc: row.voc ?? 0,
  vocIndex: row.voc_index ?? 0,
  timestamp: String(row.timestamp),
  ShutterClosed: row.shutter_closed === 1,
})

/** Under the legacy base the shutter is beside the sample only: a client there fails on a ninth key. [contract 5.2.shutter] */
export function sensorDataView(row: SampleRow, legacy: boolean): SensorData {
  const sample = sampleView(row)
  if (legacy) delete sample.ShutterClosed
  return { data: [sample], shutterClosed: row.shutter_closed === 1 }
}
