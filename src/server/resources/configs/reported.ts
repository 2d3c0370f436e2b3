// Configs and the devices: what waits for one, and what one says that it has. [contract 5.3.versions]

import { type ConfigKey, type ConfigValue, configKeys, readOnlyKeys } from '../../../contract/config-keys.ts'
import { type ConfigReport, type DesiredConfig, resendAfterMs } from '../../../contract/device.ts'
import { int32 } from '../../../contract/shape.ts'
import type { Services } from '../../context/services.ts'
import { textProblem } from '../../core/text.ts'
import type { Device, DeviceConnection } from '../../devices/mqtt/handlers.ts'
import { type DesiredValues, desiredValuesOf, newlyRejected, rejectionError, stillRejected } from './rejected.ts'
import { type EndpointConfigRow, findConfig, listUnconfirmed, updateOutcome, updateReported } from './store.ts'

/** What the device has not confirmed yet, if anything. */
export async function findPendingConfig(
  { db, secrets }: Services,
  { org, id }: Device,
): Promise<DesiredConfig | undefined> {
  const row = await findConfig(db.forOrg(org.key), id)
  if (!row || row.version === 0) return undefined
  if (row.state !== 'PENDING' && row.reported_version === row.version) return undefined
  return desired(row, desiredValuesOf(secrets, org, row))
}

/** A device that answers everything with an old version must not keep us talking. */
const answerPause = 10_000

/** Stores what a device says. What comes back is to be sent: it has seen another version than the newest. */
export async function configReported(
  { db, secrets, clock, feed }: Services,
  { device: { org, id } }: DeviceConnection,
  report: ConfigReport,
): Promise<DesiredConfig | undefined> {
  const { answer, outcome, isNews } = await db.forOrg(org.key).telemetry(async (tx): Promise<Reported> => {
    const before = await findConfig(tx, id)
    if (!before) return {}
    const now = clock.now()
    const reported = JSON.stringify(readable(report.config))
    await updateReported(tx, { id, version: report.version, reported, now })
    const isNews = reported !== before.reported
    // Only now is it certain that nobody makes another version meanwhile.
    const row = await findConfig(tx, id)
    if (!row || row.version === 0) return { isNews }
    const wanted = desiredValuesOf(secrets, org, row)
    if (report.version !== row.version) {
      const repeats = before.reported_version === report.version && before.reported_at !== null
      const isPause = repeats && now - (before.reported_at ?? 0) < answerPause
      return { isNews, ...(!isPause && { answer: desired(row, wanted) }) }
    }
    if (row.state !== 'PENDING') return { isNews }
    const rejected = { ...stillRejected(wanted, row), ...newlyRejected(wanted, report.rejected ?? {}) }
    const error = rejectionError(rejected)
    const state = error === null ? 'DELIVERED' : 'FAILED'
    const { version } = row
    await updateOutcome(tx, {
      ...{ id, version, state, error, now },
      rejected: JSON.stringify(rejected),
    })
    return { outcome: { version, state } }
  })
  if (outcome) feed.forOrg(org.key).publish([{ type: 'config', endpointId: id, config: outcome }])
  // Somebody has changed a setting at the device itself.
  else if (isNews) feed.forOrg(org.key).publish([{ type: 'status', endpointId: id }])
  return answer
}

interface Reported {
  readonly answer?: DesiredConfig
  readonly outcome?: { version: number; state: 'DELIVERED' | 'FAILED' }
  /** It says something else than the last time. */
  readonly isNews?: boolean
}

/** Connected endpoints that have not confirmed a version for so long that it should be sent again. */
export const listUndelivered = async ({ db, clock }: Services): Promise<string[]> =>
  (await listUnconfirmed(db.system, { before: clock.now() - resendAfterMs })).map(({ id }) => id)

function desired(row: EndpointConfigRow, wanted: DesiredValues): DesiredConfig {
  const refused = stillRejected(wanted, row)
  const config = Object.fromEntries(Object.entries(wanted.values).filter(([name]) => !Object.hasOwn(refused, name)))
  return { version: row.version, config }
}

/** What of a report can be shown: known keys with values that fit them, never a password. */
const readable = (config: ConfigReport['config']): Record<string, ConfigValue> =>
  Object.fromEntries(
    Object.entries({ ...configKeys, ...readOnlyKeys }).flatMap(([name, key]) => {
      const value = Object.hasOwn(config, name) ? config[name] : undefined
      return value !== undefined && !key.secret && fits(key, value) ? [[name, value]] : []
    }),
  )

function fits({ type, values, min, max }: ConfigKey, value: ConfigValue): boolean {
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
      return typeof value === 'string' && value !== '' && textProblem(value, false) === undefined
  }
}
