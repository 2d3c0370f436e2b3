// Carries out the action of a job on a unit, as its actor, and notes what cannot be done. [contract 12.rights]
import { jobActions } from '../../../contract/jobs/action-table.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure } from '../../core/failure.ts'
import { DatabaseFailure } from '../../db/errors.ts'
import { asleepText } from '../../fleet/commands/new-commands.ts'
import { listEndpointsById, listPairedEndpoints } from '../../fleet/endpoints/store.ts'
import { inabilityText, isAble, isSkippedAsleep } from '../action.ts'
import { conflictText, requireReferences } from '../request/prepare.ts'
import { actionOfJob, settingsOfJob } from '../rows.ts'
import { listRoomsOfUnits } from '../units/unit-store.ts'
import { listRoomIds } from '../visible-target-store.ts'
import type { StepInput } from './apply.ts'
import { findConflict } from './effects/config.ts'
import { DevicesOffline, OutdatedStep, type SendOptions } from './effects/effect.ts'
import { effects } from './effects/effect-table.ts'
import type { EngineEndpointRow } from './facts-store.ts'
import { lockJobIfUnchanged } from './lock-job.ts'
import { beginUnit, raiseJobProgress, updateJobEndpointState, updateUnitState } from './progress-store.ts'

/** `outdated`: a person has changed the job. `pauseReason`: why the job cannot go on, as a sentence. */
export type SendResult = 'sent' | 'outdated' | { readonly pauseReason: string }

interface SentUnit {
  readonly number: number
  readonly state: string
  readonly endpoints: readonly EngineEndpointRow[]
}

export async function sendToUnit(
  input: StepInput,
  ctx: RequestContext,
  unit: SentUnit,
  options: SendOptions,
): Promise<SendResult> {
  const { type } = actionOfJob(input.job)
  const unsent = unit.endpoints.filter(({ state }) => state === 'PENDING')
  const { present, skipped } = await listPresent(input, unsent)
  if (skipped.size > 0 && !(await skipEndpoints(input, unit, skipped))) return 'outdated'
  const endpoints = present.filter(({ endpoint_id }) => !skipped.has(endpoint_id))
  // The next run sees that they were deleted or skipped.
  if (endpoints.length === 0) return 'sent'
  const ids = endpoints.map(({ endpoint_id }) => endpoint_id)
  const obstacle = await findObstacle(input, ctx, unit.number, ids)
  if (obstacle !== undefined) return { pauseReason: obstacle }
  const effect = { ctx, job: input.job, unit: unit.number, endpoints }
  try {
    if (unit.state !== 'RUNNING' && jobActions[type].canConflict) {
      const conflict = await findConflict(ctx, effect)
      if (conflict) return await endWithConflict(input, unit, ids, conflictText(conflict))
    }
    await effects[type].send(effect, options)
    return 'sent'
  } catch (error) {
    if (error instanceof OutdatedStep) return 'outdated'
    if (error instanceof DevicesOffline) return 'sent'
    if (!isRefusal(error)) throw error
    return failEndpoints(input, unit.number, ids, error.message)
  }
}

/** A database that is locked, slow or away says nothing about the rooms: they stay as they are, and the next run tries again. */
export const isRefusal = (error: unknown): error is Failure =>
  error instanceof Failure &&
  !(error instanceof DatabaseFailure) &&
  error.code !== 'UNAVAILABLE' &&
  error.code !== 'INTERNAL'

/** Leaves out endpoints that were deleted since the facts were read. `skipped`: those that can no longer do the action, or are asleep, with the reason. */
async function listPresent({ services, org, job }: StepInput, endpoints: readonly EngineEndpointRow[]) {
  const action = actionOfJob(job)
  const ids = endpoints.map(({ endpoint_id }) => endpoint_id)
  const rows = new Map((await listEndpointsById(services.db.forOrg(org.key), { ids })).map((row) => [row.id, row]))
  const present = endpoints.filter(({ endpoint_id }) => rows.has(endpoint_id))
  const skipped = new Map<string, string>()
  for (const endpoint of present) {
    const row = rows.get(endpoint.endpoint_id)
    if (row && !isAble(action, row)) skipped.set(row.id, inabilityText(action))
    else if (isSkippedAsleep(action.type, endpoint)) skipped.set(endpoint.endpoint_id, asleepText)
  }
  return { present, skipped }
}

/** Skips endpoints, and the unit if nothing else is in it. Returns false if the job has changed since. */
async function skipEndpoints(
  { services, org, job }: StepInput,
  { number, state, endpoints }: SentUnit,
  skipped: ReadonlyMap<string, string>,
): Promise<boolean> {
  const now = services.clock.now()
  const [reason = null] = skipped.values()
  const isWhole = endpoints.every(({ endpoint_id }) => skipped.has(endpoint_id))
  return services.db.forOrg(org.key).bulkTransaction(async (tx) => {
    if (!(await lockJobIfUnchanged(tx, job))) return false
    for (const [id, error] of skipped) {
      await updateJobEndpointState(tx, { job: job.id, id, state: 'SKIPPED', error, from: 'PENDING' })
    }
    if (isWhole) {
      const from = state as 'PENDING' | 'WAITING' | 'RUNNING'
      await updateUnitState(tx, { job: job.id, number, from, to: 'SKIPPED', reason, soakUntil: null, endedAt: now })
    }
    await raiseJobProgress(tx, { job: job.id, now })
    return true
  })
}

/** Says why the actor cannot do this any more, although the units are not to blame. [contract 12.rights] */
async function findObstacle(
  { services, org, job }: StepInput,
  { db }: RequestContext,
  unit: number,
  ids: readonly string[],
): Promise<string | undefined> {
  const action = actionOfJob(job)
  try {
    await requireReferences(db, action)
  } catch (error) {
    if (error instanceof Failure && error.code === 'FAILED_PRECONDITION') return error.message
    throw error
  }
  if (db.access.isEverything) return undefined
  const all = services.db.forOrg(org.key)
  const rooms = (await listRoomsOfUnits(all, { job: job.id, units: [unit] })).map(({ room_id }) => room_id)
  const { concernsPairs } = jobActions[action.type]
  const group = concernsPairs ? (await listPairedEndpoints(all, { ids })).map(({ id }) => id) : ids
  const seesAll =
    (await listEndpointsById(db, { ids: group })).length === group.length &&
    (await listRoomIds(db, { ids: rooms })).length === (await listRoomIds(all, { ids: rooms })).length
  return seesAll ? undefined : `${job.actor_name} may no longer see all rooms of this job.`
}

/** Nothing of a room is changed if a profile locks a key on one of its endpoints. */
async function endWithConflict(
  input: StepInput,
  { number, state }: { readonly number: number; readonly state: string },
  ids: readonly string[],
  reason: string,
): Promise<SendResult> {
  const { services, org, job } = input
  if (!settingsOfJob(job).skipConflicts) return failEndpoints(input, number, ids, reason)
  const now = services.clock.now()
  const from = state as 'PENDING' | 'WAITING'
  return services.db.forOrg(org.key).bulkTransaction(async (tx): Promise<SendResult> => {
    await updateUnitState(tx, { job: job.id, number, from, to: 'SKIPPED', reason, soakUntil: null, endedAt: now })
    await raiseJobProgress(tx, { job: job.id, now })
    return 'sent'
  })
}

/** The unit has begun and failed: the next run ends it. */
async function failEndpoints(
  { services, org, job }: StepInput,
  number: number,
  ids: readonly string[],
  error: string,
): Promise<SendResult> {
  const now = services.clock.now()
  return services.db.forOrg(org.key).bulkTransaction(async (tx): Promise<SendResult> => {
    if (!(await lockJobIfUnchanged(tx, job))) return 'outdated'
    if ((await beginUnit(tx, { job: job.id, number, now })).length === 0) return 'outdated'
    // Effects on other endpoints of the unit stay as they are.
    for (const id of ids) await updateJobEndpointState(tx, { job: job.id, id, state: 'FAILED', error, from: 'PENDING' })
    await raiseJobProgress(tx, { job: job.id, now })
    return 'sent'
  })
}
