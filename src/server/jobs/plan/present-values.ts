// Counts which values endpoints have now for the keys that a job would set. [contract 12.plan]

import { type ConfigValue, configKeys, type DeviceConfigBody } from '../../../contract/device/config-keys.ts'
import { deviceKeys } from '../../fleet/configs/device-keys.ts'

/** The layers of a config as JSON; null stands for none. */
interface PresentLayers {
  readonly explicit: string | null
  readonly secrets: string | null
  readonly reported: string | null
  readonly profile: string | null
  readonly profile_secrets: string | null
  readonly config_keys: string | null
}

type Values = Readonly<Record<string, ConfigValue>>
const mask = '***'
const parse = (text: string | null): Values => (text === null || text === '{}' ? {} : JSON.parse(text))

/** The value that a profile locks, otherwise the one that was set, otherwise the one that the device reports. Passwords are masked. */
function presentValue(name: string, layers: readonly Values[]): ConfigValue | undefined {
  for (const layer of layers) {
    const value = layer[name]
    if (value !== undefined) return configKeys[name]?.secret ? mask : value
  }
  return undefined
}

export class PresentValues {
  readonly #config: DeviceConfigBody
  readonly #counts: ReadonlyMap<string, Map<ConfigValue | undefined, number>>

  constructor(config: DeviceConfigBody) {
    this.#config = config
    this.#counts = new Map(Object.keys(config).map((name) => [name, new Map()]))
  }

  /** Counts an endpoint, and returns whether it already has all values of settings that its device has. A password always counts as a change: it is not opened for a plan. */
  add(row: PresentLayers): boolean {
    const explicit = { ...parse(row.explicit), ...parse(row.secrets) }
    const layers = [{ ...parse(row.profile), ...parse(row.profile_secrets) }, explicit, parse(row.reported)]
    let isUnchanged = true
    const has = deviceKeys(row.config_keys)
    for (const [name, counts] of this.#counts) {
      if (!has(name)) continue
      const value = presentValue(name, layers)
      counts.set(value, (counts.get(value) ?? 0) + 1)
      const wanted = this.#config[name]
      isUnchanged &&= wanted === null ? explicit[name] === undefined : value === wanted && !configKeys[name]?.secret
    }
    return isUnchanged
  }

  /** The most common value comes first; among equally common ones, that of endpoints without a value comes last. */
  answer() {
    return Object.fromEntries(
      [...this.#counts].map(([name, counts]) => [
        name,
        [...counts]
          .sort(
            ([a, aCount], [b, bCount]) =>
              bCount - aCount || orderOf(a) - orderOf(b) || (String(a) < String(b) ? -1 : 1),
          )
          .map(([value, endpointCount]) => ({ ...(value !== undefined && { value }), endpointCount })),
      ]),
    )
  }
}

const orderOf = (value: ConfigValue | undefined) => (value === undefined ? 1 : 0)
