// Samples as callers see them: every field is present, with 0 where nothing was measured. Bulk answers are text (see json-writer.ts). [contract 5.2]

import type { Static } from 'typebox'
import type { Sensor } from '../../contract/device/models.ts'
import type { Sample, SensorData } from '../../contract/sensors/sensors.ts'
import { type SensorSet, sensorBits, sensorLists, sensorsIn } from '../devices/device-sensors.ts'
import type { SampleRow } from './ingest/store.ts'
import { flatText, scaledText } from './json-writer.ts'
import { scale } from './scale.ts'

/** The sensors that have a value in the sample. Written out, because bulk answers of rooms call it for each room (bench row `bulk`). */
export const measuredSet = (row: SampleRow): SensorSet =>
  (row.co2 === null ? 0 : sensorBits.co2) |
  (row.humidity === null ? 0 : sensorBits.humidity) |
  (row.illumination === null ? 0 : sensorBits.illumination) |
  (row.people === null ? 0 : sensorBits.people) |
  (row.temp === null ? 0 : sensorBits.temp) |
  (row.voc === null ? 0 : sensorBits.voc) |
  (row.voc_index === null ? 0 : sensorBits.vocIndex)

/** `measured` of answers and events: what was measured, while the other values are 0. [contract 5.2.measured] */
export const measuredIn = (row: SampleRow): Sensor[] => [...sensorsIn(measuredSet(row))]

/** The JSON of `measuredIn`, by the set. */
const measuredTexts = sensorLists.map((list) => JSON.stringify(list))

type PeopleIs = SensorData['peopleIs']

/** The entry of one endpoint in the bulk answer; `text` is its `SensorData`, or null. */
export const endpointEntryText = (id: string, text: string): string =>
  flatText('{"id":"', id, '","endpointData":', text, '}')

export const roomEntryText = (id: number, text: string): string => `{"id":${id},"roomData":${text}}`

/** Writes the JSON of `sensorDataView` without making the object (bench row `bulk`); view.test.ts compares the two. */
export function sensorDataText(row: SampleRow, legacy: boolean, peopleIs?: PeopleIs): string {
  const shutter = row.shutter_closed === 1
  const shutterField = legacy ? '' : `,"ShutterClosed":${shutter}`
  const climate = `"co2":${row.co2 ?? 0},"humidity":${scaledText(row.humidity ?? 0, scale.humidity)}`
  const presence = `"illumination":${row.illumination ?? 0},"people":${row.people ?? 0}`
  const air = `"temp":${scaledText(row.temp ?? 0, scale.temp)},"voc":${row.voc ?? 0},"vocIndex":${row.voc_index ?? 0}`
  const data = `"data":[{${climate},${presence},${air},"timestamp":"${row.timestamp}"${shutterField}}],"shutterClosed":${shutter}`
  if (legacy) return `{${data}}`
  return `{${data},"measured":${measuredTexts[measuredSet(row)]}${peopleIs ? `,"peopleIs":"${peopleIs}"` : ''}}`
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

/** Under the legacy base the shutter is beside the sample only, and nothing else is: a client there fails on a ninth key. [contract 5.2.shutter] */
export function sensorDataView(row: SampleRow, legacy: boolean, peopleIs?: PeopleIs): SensorData {
  const sample = sampleView(row)
  const data = { data: [sample], shutterClosed: row.shutter_closed === 1 }
  if (!legacy) return { ...data, measured: measuredIn(row), ...(peopleIs && { peopleIs }) }
  delete sample.ShutterClosed
  return data
}
