// Observes whether endpoints rejected their settings, or have not confirmed them. [contract 10.rule]
import type { RuleId } from '../../../../contract/incidents/rule-table.ts'
import type { OrgReader } from '../../../db/handles.ts'
import { readInParts } from '../../../db/queries/in-parts.ts'
import { conditionOf, type FindingDetail, type Observation } from '../types.ts'
import {
  listConfigsById,
  listRejectedConfigs,
  listRejectedWithin,
  listUnconfirmedConfigs,
  type ObservedConfig,
} from './config-store.ts'
import { type FullInput, type QuickInput, slackMs } from './input.ts'

/** While a new version is on its way, it is neither rejected nor confirmed. */
function observeRejection(config: ObservedConfig): Observation {
  const condition = conditionOf('config.rejected', config.id)
  if (config.state === 'PENDING') return { ...condition, state: 'between' }
  if (config.state !== 'FAILED') return { ...condition, state: 'clear' }
  return { ...condition, state: 'holds', since: config.updated_at, detail: rejectionOf(config) }
}

/**
 * The keys that the profile locks are named alone, because correcting the profile helps all of its devices; else the keys that a job set,
 * because its other devices get the same values.
 */
function rejectionOf({ rejected, profile_id, profile, profile_secrets, ...version }: ObservedConfig): FindingDetail {
  const keys = Object.keys(JSON.parse(rejected)).sort()
  const locked = profile_id === null ? {} : { ...JSON.parse(profile ?? '{}'), ...JSON.parse(profile_secrets ?? '{}') }
  const ofProfile = keys.filter((key) => Object.hasOwn(locked, key))
  if (profile_id !== null && ofProfile.length > 0) return { keys: ofProfile, profileId: profile_id }
  const { job_id: jobId } = version
  const ofJob = jobId === null ? [] : keys.filter((key) => setsKey(version, key))
  return jobId === null || ofJob.length === 0 ? { keys } : { keys: ofJob, jobId }
}

/** A job that changes the profile can bring back any key that the former profile hid. */
function setsKey({ job_action }: Pick<ObservedConfig, 'job_action'>, key: string): boolean {
  const { config } = JSON.parse(job_action ?? '{}')
  return config === undefined || Object.hasOwn(config, key)
}

/** A device that is away cannot confirm anything. */
function observeDelivery({ id, state, connected, created_at, connection_time }: ObservedConfig): Observation {
  const condition = conditionOf('config.undelivered', id)
  if (state !== 'PENDING') return { ...condition, state: 'clear' }
  if (!connected) return { ...condition, state: 'between' }
  return { ...condition, state: 'holds', since: Math.max(created_at, connection_time ?? 0) }
}

/** The rules about configs. */
const observers = {
  'config.rejected': observeRejection,
  'config.undelivered': observeDelivery,
} as const satisfies Partial<Record<RuleId, (config: ObservedConfig) => Observation>>

/** Observes the configs that were rejected just long enough ago, and, while something is silenced, configs that were rejected a moment ago. */
export async function observeConfigsQuickly(on: OrgReader, input: QuickInput): Promise<Observation[]> {
  const { now, from, rules, hasSilences } = input
  const { holdMs } = rules['config.rejected']
  const rejected = await listRejectedWithin(on, { from: from - holdMs - slackMs, to: hasSilences ? now : now - holdMs })
  return (await listConfigs(on, rejected)).map(observeRejection)
}

export async function observeConfigs(on: OrgReader, { findings }: FullInput): Promise<Observation[]> {
  const known = findings.filter(({ rule }) => rule in observers).map(({ subject }) => subject)
  const rows = await listConfigs(on, [
    ...(await listRejectedConfigs(on)),
    ...(await listUnconfirmedConfigs(on)),
    ...known,
  ])
  return rows.flatMap((row) => Object.values(observers).map((observe) => observe(row)))
}

function listConfigs(on: OrgReader, endpoints: readonly { readonly id: string }[]): Promise<ObservedConfig[]> {
  const ids = [...new Set(endpoints.map(({ id }) => id))]
  return readInParts(ids, (part) => listConfigsById(on, { ids: part }))
}
