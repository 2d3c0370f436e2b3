// AirGradient monitors publish all values each minute to `airgradient/readings/<serial number>`, without a will.
import { minuteMs } from '../../../../contract/durations.ts'
import type { MappedValue } from '../../../../contract/fleet/sources.ts'
import { isJsonObject, parseLimitedJson, textKeyOf } from '../../../../sensor-mapping/limited-json.ts'
import { type Announcement, at, lineOf, type SensorChannel } from '../announcement.ts'
import { keyFor } from './home-assistant.ts'

export const airGradientFilter = 'airgradient/readings/+'
export const airGradientTopic = /^airgradient\/readings\/([^/]{1,64})$/

/** A monitor that works sends its values each minute. */
const expireAfterMs = 15 * minuteMs

const sensorKeys: readonly (readonly [key: string, MappedValue, unit: string, rank: number])[] = [
  ['rco2', 'co2', 'ppm', 0],
  ['atmpCompensated', 'temp', '°C', 0],
  ['atmp', 'temp', '°C', 1],
  ['rhumCompensated', 'humidity', '%', 0],
  ['rhum', 'humidity', '%', 1],
  ['tvocIndex', 'vocIndex', 'index', 0],
]
const readingKeys: readonly (readonly [key: string, name: string, unit: string])[] = [
  ['pm02Compensated', 'pm25', 'µg/m³'],
  ['pm02', 'pm25', 'µg/m³'],
  ['pm10', 'pm10', 'µg/m³'],
  ['noxIndex', 'noxIndex', ''],
  ['wifi', 'signal', 'dBm'],
]

export function readAirGradient(topic: string, payload: string): Announcement | undefined {
  const [, serial = ''] = airGradientTopic.exec(topic) ?? []
  const message = parseLimitedJson(payload)
  if (serial === '' || !isJsonObject(message)) return undefined
  const has = (key: string) => typeof message[key] === 'number'
  const input = (key: string) => ({ id: key, inputs: [{ filter: topic, template: at(key) }], expireAfterMs })
  const channels: SensorChannel[] = [
    ...sensorKeys
      .filter(([key]) => has(key))
      .map(([key, sensor, unit, rank]) => ({
        ...input(key),
        meaning: { kind: 'sensor' as const, sensor },
        unit,
        rank,
      })),
    ...readingKeys
      .filter(([key]) => has(key))
      .map(([key, name, unit], rank) => ({ ...input(key), meaning: { kind: 'reading' as const, name }, unit, rank })),
  ]
  return {
    device: {
      key: keyFor('airgradient', serial),
      format: 'airgradient',
      model: lineOf(textKeyOf(message, 'model'), 64) ?? 'AirGradient',
      manufacturer: 'AirGradient',
      serial: lineOf(textKeyOf(message, 'serialno') ?? serial, 64),
      firmwareVersion: lineOf(textKeyOf(message, 'firmware'), 100),
    },
    channels,
    notUnderstood: [],
  }
}
