// Exchanges configs with devices: the pending config of a device, and the config that it reports. [contract 5.3.versions]

import { type ConfigKey, type ConfigValue, configKeys, readOnlyKeys } from '../../../contract/device/config-keys.ts'
import { type ConfigReport, type DesiredConfig, resendAfterMs } from '../../../contract/device/protocol.ts'
import { int32 } from '../../../contract/shape.ts'
import { textProblem } from '../../../contract/text.ts'
import type { Services } from '../../context/services.ts'
import { isConfigTimeZone } from '../../core/time/time-zone.ts'
import { ConnectionReplaced, connectionKey, type Device, type DeviceConnection } from '../../devices/mqtt/handlers.ts'
import { canDo } from '../endpoints/device-actions.ts'
import { queueConfigOutcome } from '../endpoints/endpoint-messages.ts'
import { lockConnection } from '../endpoints/store.ts'
import { type DesiredValues, desiredValuesOf, newlyRejected, rejectionError, stillRejected } from './rejected.ts'
import {
  type EndpointConfigRow,
  findConfig,
  listUnconfirmed,
  listUnconfirmedVersions,
  updateOutcome,
  updateReported,
} from './store.ts'

/** Returns the config that the device has not confirmed yet, if there is one. */
export async function findPendingConfig(
  { db, secrets }: Services,
  { org, id }: Device,
): Promise<DesiredConfig | undefined> {
  const row = await findConfig(db.forOrg(org.key), { id })
  if (!row || row.version === 0 || !canDo(row, 'config')) return undefined
  if (row.state !== 'PENDING' && row.reported_version === row.version) return undefined
  return makeMessage(row, desiredValuesOf(secrets, org, row))
}

/** A device that always reports an old version gets an answer at most this often, to avoid a loop of messages. */
const minAnswerIntervalMs = 10_000

/** Stores a report. If the device reports another version than the newest, the result is the config to send to it. */
export async function configReported(
  { db, secrets, clock, feed }: Services,
  connection: DeviceConnection,
  report: ConfigReport,
): Promise<DesiredConfig | undefined> {
  const { org, id } = connection.device
  const stored = await db.forOrg(org.key).telemetry(async (tx): Promise<Reported | undefined> => {
    const before = (await lockConnection(tx, connectionKey(connection))) && (await findConfig(tx, { id }))
    if (!before) return undefined
    const now = clock.now()
    const reported = JSON.stringify(pickShownValues(report.config))
    await updateReported(tx, { id, version: report.version, reported, now })
    const isChanged = reported !== before.reported
    // The write has locked the row, so the version cannot change until the transaction ends.
    const row = await findConfig(tx, { id })
    if (!row || row.version === 0 || !canDo(row, 'config')) return { isChanged }
    const desired = desiredValuesOf(secrets, org, row)
    if (report.version !== row.version) {
      const repeats = before.reported_version === report.version && before.reported_at !== null
      const isTooSoon = repeats && now - (before.reported_at ?? 0) < minAnswerIntervalMs
      return { isChanged, ...(!isTooSoon && { answer: makeMessage(row, desired) }) }
    }
    if (row.state !== 'PENDING') return { isChanged }
    const rejected = { ...stillRejected(desired, row), ...newlyRejected(desired, report.rejected ?? {}) }
    const error = rejectionError(rejected)
    const state = error === null ? 'DELIVERED' : 'FAILED'
    const { version } = row
    await updateOutcome(tx, {
      ...{ id, version, state, error, now },
      rejected: JSON.stringify(rejected),
    })
    await queueConfigOutcome(tx, id, { version, state, error }, now)
    return { outcome: { version, state } }
  })
  if (!stored) throw new ConnectionReplaced()
  const { answer, outcome, isChanged } = stored
  if (outcome) feed.forOrg(org.key).publish([{ type: 'config', endpointId: id, config: outcome }])
  // A setting was changed on the device itself.
  else if (isChanged) feed.forOrg(org.key).publish([{ type: 'status', endpointId: id }])
  return answer
}

interface Reported {
  readonly answer?: DesiredConfig
  readonly outcome?: { version: number; state: 'DELIVERED' | 'FAILED' }
  /** The reported config differs from the last one. */
  readonly isChanged?: boolean
}

/** Lists endpoints that are connected to this node and have not confirmed their version, also if the message about it was lost. */
export const listPending = async ({ db, node }: Services): Promise<{ id: string; version: number }[]> =>
  node ? listUnconfirmedVersions(db.system, { node: node.id }) : []

/** Lists endpoints that are connected to this node and have not confirmed their version in time, so that it is sent again. */
export async function listUndelivered({ db, node, clock }: Services): Promise<string[]> {
  if (!node) return []
  return (await listUnconfirmed(db.system, { node: node.id, before: clock.now() - resendAfterMs })).map(({ id }) => id)
}

function makeMessage(row: EndpointConfigRow, desired: DesiredValues): DesiredConfig {
  const rejected = stillRejected(desired, row)
  const config = Object.fromEntries(Object.entries(desired.values).filter(([name]) => !Object.hasOwn(rejected, name)))
  return { version: row.version, config }
}

/** Picks the known keys that have a valid value, and no passwords. Clients send these values back, so they must be valid there too. */
export const pickShownValues = (
  config: ConfigReport['config'],
  keys: Readonly<Record<string, ConfigKey>> = { ...configKeys, ...readOnlyKeys },
): Record<string, ConfigValue> =>
  Object.fromEntries(
    Object.entries(keys).flatMap(([name, key]) => {
      const sent = Object.hasOwn(config, name) ? config[name] : undefined
      const value = typeof sent === 'string' && textProblem(sent, false) === undefined ? sent.trim() : sent
      return value !== undefined && !key.secret && isValidValue(key, value) ? [[name, value]] : []
    }),
  )

function isValidValue({ type, values, min, max, format }: ConfigKey, value: ConfigValue): boolean {
  switch (type) {
    case 'boolean':
      return typeof value === 'boolean'
    case 'number':
      return typeof value === 'number' && value >= (min ?? -Infinity) && value <= (max ?? Infinity)
    case 'integer':
      return Number.isInteger(value) && +value >= (min ?? int32.minimum) && +value <= (max ?? int32.maximum)
    case 'enum':
      return values?.includes(String(value)) === true
    case 'string':
      if (typeof value !== 'string' || value === '' || textProblem(value, false) !== undefined) return false
      return format !== 'timezone' || isConfigTimeZone(value)
  }
}
