// Shelly devices from their second generation: `<id>/events/rpc` (on by default), `<id>/status/<component>` and `<id>/online`.
import type { MappedValue } from '../../../../contract/fleet/sources.ts'
import { isJsonObject, keyOf, parseLimitedJson, textKeyOf } from '../../../../sensor-mapping/limited-json.ts'
import { plainValue } from '../../../../sensor-mapping/template.ts'
import { type Announcement, at, lineOf, type SensorChannel } from '../announcement.ts'
import { maxChannelsPerDevice } from '../limits.ts'
import { keyFor } from './home-assistant.ts'

export const shellyFilters = ['+/status/+', '+/events/rpc', '+/online'] as const
export const shellyTopic = /^([^/+#]{1,100})\/(?:status\/([a-z0-9_]{1,40}:\d{1,5})|events\/rpc)$/

interface Part {
  readonly path: readonly string[]
  readonly unit?: string
  readonly meaning: SensorChannel['meaning']
}
const sensor = (name: MappedValue): SensorChannel['meaning'] => ({ kind: 'sensor', sensor: name })

const parts: Readonly<Record<string, readonly Part[]>> = {
  temperature: [{ path: ['tC'], unit: '°C', meaning: sensor('temp') }],
  humidity: [{ path: ['rh'], unit: '%', meaning: sensor('humidity') }],
  illuminance: [{ path: ['lux'], unit: 'lx', meaning: sensor('illumination') }],
  presencezone: [
    { path: ['value'], meaning: sensor('presence') },
    { path: ['num_objects'], meaning: { kind: 'reading', name: 'objects' } },
  ],
  devicepower: [{ path: ['battery', 'percent'], unit: '%', meaning: { kind: 'reading', name: 'battery' } }],
}

interface Known {
  readonly components: Set<string>
  /** The name of the device itself, such as shellyplusht-a8032ab12345; its topic can have another name. */
  id?: string
  hasBattery: boolean
}

/** The components of each device, which come one after the other. */
export class ShellyDevices {
  readonly #devices = new Map<string, Known>()
  readonly #maxDevices: number

  constructor(maxDevices: number) {
    this.#maxDevices = maxDevices
  }

  /** Undefined unless the message says something new about the device itself. */
  take(topic: string, payload: string): Announcement | undefined {
    const [, prefix = '', component] = shellyTopic.exec(topic) ?? []
    const found =
      component === undefined ? notified(payload) : { components: [component], id: undefined, battery: payload }
    const components = found.components.filter((name) => Object.hasOwn(parts, name.split(':')[0] as string))
    if (prefix === '' || components.length === 0) return undefined
    const known = this.#devices.get(prefix) ?? { components: new Set<string>(), hasBattery: false }
    const before = JSON.stringify([...known.components, known.id, known.hasBattery])
    for (const name of components.slice(0, maxChannelsPerDevice - known.components.size)) known.components.add(name)
    if (found.id !== undefined) known.id = found.id
    if (components.some((name) => name.startsWith('devicepower:')))
      known.hasBattery ||= !hasExternalPower(found.battery)
    if (before === JSON.stringify([...known.components, known.id, known.hasBattery])) return undefined
    if (!this.#devices.has(prefix) && this.#devices.size >= this.#maxDevices) return undefined
    this.#devices.set(prefix, known)
    return announcementOf(prefix, known)
  }
}

interface Notified {
  readonly components: readonly string[]
  readonly id: string | undefined
  readonly battery: string
}

function notified(payload: string): Notified {
  const message = parseLimitedJson(payload)
  const params = keyOf(message, 'params')
  const isStatus = /^Notify(?:Full)?Status$/.test(textKeyOf(message, 'method') ?? '')
  if (!isStatus || !isJsonObject(params)) return { components: [], id: undefined, battery: '' }
  const power = Object.entries(params).find(([name]) => name.startsWith('devicepower:'))?.[1]
  return { components: Object.keys(params), id: textKeyOf(message, 'src'), battery: JSON.stringify(power ?? null) }
}

/** A sensor with a battery sleeps: its will says that it is not online, although it measures. */
const hasExternalPower = (devicePower: string): boolean =>
  keyOf(keyOf(parseLimitedJson(devicePower), 'external'), 'present') === true

function announcementOf(prefix: string, { components, id, hasBattery }: Known): Announcement {
  const online = { topic: `${prefix}/online`, template: plainValue, available: 'true', notAvailable: 'false' }
  const availability = hasBattery ? undefined : ({ mode: 'latest', topics: [online] } as const)
  const channels = [...components].flatMap((component) => {
    const [kind = '', number = ''] = component.split(':')
    return (parts[kind] ?? []).map(
      ({ path, unit, meaning }): SensorChannel => ({
        id: `${component} ${path.join('.')}`,
        meaning,
        unit,
        inputs: [
          { filter: `${prefix}/status/${component}`, template: at(...path) },
          { filter: `${prefix}/events/rpc`, template: at('params', component, ...path) },
        ],
        rank: Number(number),
        availability,
      }),
    )
  })
  // The name of a device is its product and its MAC address.
  const [, product, mac] = /^(.+)-([0-9a-f]{12})$/i.exec(id ?? prefix) ?? []
  return {
    device: {
      key: keyFor('shelly', prefix),
      format: 'shelly',
      model: lineOf(product, 64) ?? 'Shelly',
      name: lineOf(prefix, 100),
      manufacturer: 'Shelly',
      serial: lineOf(mac?.toUpperCase(), 64),
    },
    channels,
    notUnderstood: [],
  }
}
