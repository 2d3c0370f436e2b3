// Configs as answers show them, without passwords. [contract 4.endpointsSettings] [contract 6.configVersions]
import { hash } from 'node:crypto'
import type { Static } from 'typebox'
import { type ConfigValue, readOnlyKeys } from '../../../contract/device/config-keys.ts'
import type { ConfigState, ConfigVersion } from '../../../contract/fleet/configs.ts'
import { VersionedAnswer } from '../../context/answers.ts'
import { isoTime } from '../../core/clock.ts'
import { effectiveConfig, explicitLayer, profileLayer } from './effective.ts'
import { differences, keysOf, type SealedConfig, shownConfig } from './sealed-config.ts'
import type { ConfigVersionRow, EndpointConfigRow } from './store.ts'

type Settings = Record<string, ConfigValue>

/** Shows the explicit keys first, then the keys that only the device reports. Keys that the profile locks are left out. */
export const settingsView = (row: EndpointConfigRow): Settings => ({
  ...explicitView(row),
  ...readOnlyView(row),
  ...unsetView(row),
})

/** The ETag needs a hash of what the device reports, because a report changes the body without making a version. [contract 7.9] */
export function settingsAnswer<T>(row: EndpointConfigRow, body: T): VersionedAnswer<T> {
  const reported = { ...readOnlyView(row), ...unsetView(row) }
  const isPlain = Object.keys(reported).length === 0
  return new VersionedAnswer(
    row.version,
    body,
    isPlain ? undefined : hash('sha1', JSON.stringify(reported), 'base64url'),
  )
}

const explicitView = (row: EndpointConfigRow): Settings =>
  without(shownConfig(explicitLayer(row)), keysOf(profileLayer(row)))

/** Shows settable keys that the device reports, and that are neither explicit nor locked by its profile. */
export function unsetView(row: EndpointConfigRow): Settings {
  const set = [...keysOf(explicitLayer(row)), ...keysOf(profileLayer(row)), ...Object.keys(readOnlyKeys)]
  return without(JSON.parse(row.reported), set)
}

const without = (settings: Settings, names: readonly string[]): Settings =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name)))

/** Status fields and pairing have the values that the endpoint shows. The other keys come from config reports. */
export function readOnlyView(row: EndpointConfigRow): Settings {
  const reported = { ...JSON.parse(row.reported), ...JSON.parse(row.status), pairingSerial: row.pairing_serial }
  return Object.fromEntries(
    Object.keys(readOnlyKeys)
      .filter((name) => reported[name] !== undefined && reported[name] !== null)
      .map((name) => [name, reported[name]]),
  )
}

export const stateView = (
  row: EndpointConfigRow,
  rejected: Record<string, string>,
  notForDevice: readonly string[],
) => ({
  version: row.version,
  state: row.state as ConfigState,
  ...(row.error !== null && { error: row.error }),
  desired: shownConfig(explicitLayer(row)),
  profile: shownConfig(profileLayer(row)),
  reported: JSON.parse(row.reported) as Settings,
  rejected,
  ...(notForDevice.length > 0 && { notForDevice: [...notForDevice] }),
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
  ...(row.job_id !== null && { jobId: String(row.job_id) }),
  config: shownConfig(explicitLayer(row)),
  diff: differences(before ? effectiveConfig(before) : emptyConfig, effectiveConfig(row)),
})
