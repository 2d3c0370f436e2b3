// Samples as callers see them: every field is present, with 0 where nothing was measured. Bulk answers are text (see json-writer.ts). [contract 5.2]

import type { Static } from 'typebox'
import { type Sensor, sensors } from '../../contract/device/models.ts'
import type { Sample, SensorData } from '../../contract/sensors/sensors.ts'
import { type SensorSet, sensorSetOf, sensorsIn } from '../devices/device-sensors.ts'
import type { SampleRow } from './ingest/store.ts'
import { flatText, scaledText } from './json-writer.ts'
import { columnOf, scale } from './scale.ts'

const columnBits = sensors.map((sensor) => [columnOf[sensor], sensorSetOf([sensor])] as const)

/** The sensors that have a value in the sample. */
export function measuredSet(row: SampleRow): SensorSet {
  let set = 0
  for (const [column, bit] of columnBits) if (row[column] !== null) set |= bit
  return set
}

/** `measured` of answers and events: what was measured, while the other values are 0. [contract 5.2.measured] */
export const measuredIn = (row: SampleRow): Sensor[] => [...sensorsIn(measuredSet(row))]

const texts = new Map<SensorSet, string>()
/** The JSON of `measuredIn`, which is one of 128 texts. */
function measuredText(row: SampleRow): string {
  const set = measuredSet(row)
  let text = texts.get(set)
  if (text === undefined) {
    text = JSON.stringify(measuredIn(row))
    texts.set(set, text)
  }
  return text
}

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
  return `{${data},"measured":${measuredText(row)}${peopleIs ? `,"peopleIs":"${peopleIs}"` : ''}}`
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
