// Tasmota's own discovery: `tasmota/discovery/<MAC>/config` and `/sensors`. Values come in `tele/<topic>/SENSOR`.
import type { MappedValue } from '../../../../contract/fleet/sources.ts'
import {
  isJsonObject,
  type Json,
  type JsonMap,
  keyOf,
  parseLimitedJson,
  textKeyOf,
} from '../../../../sensor-mapping/limited-json.ts'
import { plainValue } from '../../../../sensor-mapping/template.ts'
import {
  type Announcement,
  type AvailabilitySettings,
  at,
  lineOf,
  readingName,
  type SensorChannel,
} from '../announcement.ts'
import { maxChannelsPerDevice, maxTopicCharacters } from '../limits.ts'
import { isTopicFilter } from '../topic-tree.ts'
import { keyFor } from './home-assistant.ts'

export const tasmotaFilters = ['tasmota/discovery/+/config', 'tasmota/discovery/+/sensors'] as const
export const tasmotaTopic = /^tasmota\/discovery\/([^/]{1,64})\/(config|sensors)$/

const sensorOfKey: Readonly<Record<string, readonly [MappedValue, string | undefined]>> = {
  CarbonDioxide: ['co2', 'ppm'],
  Humidity: ['humidity', '%'],
  Illuminance: ['illumination', 'lx'],
  TVOC: ['voc', 'ppb'],
}
/** Power meters, and the temperature of the chip itself. */
const otherGroups = /^(?:ENERGY|ESP32|ANALOG)$/

/** Collects both messages of each device; they come in any order. */
export class TasmotaDevices {
  readonly #config = new Map<string, JsonMap>()
  readonly #sensors = new Map<string, JsonMap>()
  readonly #maxDevices: number

  constructor(maxDevices: number) {
    this.#maxDevices = maxDevices
  }

  /** Undefined until both messages are there. */
  take(mac: string, part: string, payload: string): Announcement | undefined {
    const into = part === 'config' ? this.#config : this.#sensors
    const message = parseLimitedJson(payload)
    if (isJsonObject(message) && (into.has(mac) || into.size < this.#maxDevices)) into.set(mac, message)
    else into.delete(mac)
    const [config, sensors] = [this.#config.get(mac), this.#sensors.get(mac)]
    return config && sensors && announcementOf(mac, config, sensors)
  }
}

function announcementOf(mac: string, config: JsonMap, sensors: JsonMap): Announcement | undefined {
  const [telemetry, status] = [topicOf(config, 2), topicOf(config, 1)]
  const values = keyOf(sensors, 'sn')
  if (telemetry === undefined || !isJsonObject(values)) return undefined
  const availability: AvailabilitySettings = {
    mode: 'latest',
    topics: [
      {
        topic: `${telemetry}LWT`,
        template: plainValue,
        available: textKeyOf(config, 'onln') ?? 'Online',
        notAvailable: textKeyOf(config, 'ofln') ?? 'Offline',
      },
    ],
  }
  const tempUnit = textKeyOf(values, 'TempUnit') ?? 'C'
  const channels = Object.entries(values)
    .filter(([group]) => !otherGroups.test(group))
    .flatMap(([group, quantities], rank) =>
      !isJsonObject(quantities)
        ? []
        : Object.entries(quantities).flatMap(([name, value]): SensorChannel[] => {
            const meaning = meaningOf(name, value, tempUnit)
            if (!meaning) return []
            const inputs = [
              { filter: `${telemetry}SENSOR`, template: at(group, name) },
              ...(status === undefined
                ? []
                : [{ filter: `${status}STATUS10`, template: at('StatusSNS', group, name) }]),
            ]
            return [{ id: `${group} ${name}`, ...meaning, inputs, rank, availability }]
          }),
    )
  const name = textKeyOf(config, 'dn')
  return {
    device: {
      key: keyFor('tasmota', mac),
      format: 'tasmota',
      model: lineOf(textKeyOf(config, 'md'), 64) ?? 'Tasmota',
      name: lineOf(name, 100),
      manufacturer: 'Tasmota',
      serial: lineOf(mac, 64),
      firmwareVersion: lineOf(textKeyOf(config, 'sw'), 100),
    },
    channels: channels.slice(0, maxChannelsPerDevice),
    notUnderstood: [],
  }
}

function meaningOf(name: string, value: Json, tempUnit: string): Pick<SensorChannel, 'meaning' | 'unit'> | undefined {
  if (typeof value !== 'number') return undefined
  if (name === 'Temperature') return { meaning: { kind: 'sensor', sensor: 'temp' }, unit: `°${tempUnit}` }
  const [sensor, unit] = (Object.hasOwn(sensorOfKey, name) ? sensorOfKey[name] : undefined) ?? []
  if (sensor !== undefined) return { meaning: { kind: 'sensor', sensor }, unit }
  const reading = readingName(name)
  return reading === undefined ? undefined : { meaning: { kind: 'reading', name: reading }, unit: undefined }
}

/** `ft` is the pattern of the topics, such as `%prefix%/%topic%/`; `tp` has the prefixes of commands, status and telemetry. */
function topicOf(config: JsonMap, prefix: 1 | 2): string | undefined {
  const [pattern, topic, prefixes] = [textKeyOf(config, 'ft'), textKeyOf(config, 't'), keyOf(config, 'tp')]
  const name = Array.isArray(prefixes) ? prefixes[prefix] : undefined
  if (pattern === undefined || topic === undefined || typeof name !== 'string') return undefined
  const whole = pattern.replaceAll('%prefix%', name).replaceAll('%topic%', topic)
  const base = whole.endsWith('/') ? whole : `${whole}/`
  return isTopicFilter(`${base}STATUS10`, maxTopicCharacters) && !/[+#]/.test(base) ? base : undefined
}
