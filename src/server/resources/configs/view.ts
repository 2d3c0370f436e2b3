// Configs as answers show them, without passwords. [contract 4.endpointsSettings] [contract 6.configVersions]
import type { Static } from 'typebox'
import type { ConfigState, ConfigVersion } from '../../../contract/configs.ts'
import { type ConfigValue, readOnlyKeys } from '../../../contract/device/config-keys.ts'
import { isoTime } from '../../core/clock.ts'
import { effectiveConfig, explicitLayer, profileLayer } from './effective.ts'
import { differences, keysOf, type SealedConfig, shownConfig } from './sealed-config.ts'
import type { ConfigVersionRow, EndpointConfigRow } from './store.ts'

type Settings = Record<string, ConfigValue>

/** Shows the keys of the endpoint that its profile does not fix, and the read-only keys that the device reports. */
export function settingsView(row: EndpointConfigRow): Settings {
  const fixed = new Set(keysOf(profileLayer(row)))
  const own = Object.entries(shownConfig(explicitLayer(row))).filter(([name]) => !fixed.has(name))
  return { ...Object.fromEntries(own), ...readOnlyView(row) }
}

/** Status fields and pairing have the values that the endpoint shows. The other keys come from config reports. */
export function readOnlyView(row: EndpointConfigRow): Settings {
  const reported = { ...JSON.parse(row.reported), ...JSON.parse(row.status), pairingSerial: row.pairing_serial }
  return Object.fromEntries(
    Object.keys(readOnlyKeys)
      .filter((name) => reported[name] !== undefined && reported[name] !== null)
      .map((name) => [name, reported[name]]),
  )
}

export const stateView = (row: EndpointConfigRow, rejected: Record<string, string>) => ({
  version: row.version,
  state: row.state as ConfigState,
  ...(row.error !== null && { error: row.error }),
  desired: shownConfig(explicitLayer(row)),
  profile: shownConfig(profileLayer(row)),
  reported: JSON.parse(row.reported) as Settings,
  rejected,
})

const emptyConfig: SealedConfig = { config: '{}', secrets: '{}' }

/** `before` is the version before it, if there was one. */
export const versionView = (
  row: ConfigVersionRow,
  before: ConfigVersionRow | undefined,
): Static<typeof ConfigVersion> => ({
  version: row.version,
  state: row.state as ConfigState,
  ...(row.error !== null && { error: row.error }),
  createdAt: isoTime(row.created_at),
  updatedAt: isoTime(row.updated_at),
  author: { type: row.author_type, id: row.author_id, name: row.author_name },
  ...(row.profile_id !== null && { profileId: row.profile_id }),
  config: shownConfig(explicitLayer(row)),
  diff: differences(before ? effectiveConfig(before) : emptyConfig, effectiveConfig(row)),
})
