// Carries out the steps of a job that people ask for: start, pause, resume, cancel, roll back and retry. [contract 12.states]

import { minuteMs } from '../../contract/durations.ts'
import { actionTypesWith, isReversible, jobActions } from '../../contract/jobs/action-table.ts'
import {
  type JobState,
  type JobStep,
  openUnitStates,
  statesForRollBackNow,
  statesForStep,
} from '../../contract/jobs/job-states.ts'
import type { AuditedId } from '../../contract/operations.ts'
import { checkIfMatch } from '../context/if-match.ts'
import type { RequestContext } from '../context/request-context.ts'
import { Failure, mustFind } from '../core/failure.ts'
import type { Tx } from '../db/handles.ts'
import { cancelGroups } from '../fleet/commands/deferred/cancel-groups.ts'
import { change } from '../journal/audit/change.ts'
import { requireScopeFor } from './action.ts'
import { type JobMessage, jobEvents, jobRef, locatedRows, queueJobMessage } from './announce.ts'
import { actorColumns, requireJobSlot, startedColumns } from './create.ts'
import { takeBackReboots } from './engine/take-back-reboots.ts'
import { newUnitsOf, prepareJob, requireAllowedJob, requireReferences } from './request/prepare.ts'
import { defaultDeadlineMs } from './request/request.ts'
import { actionOfJob, type JobRow, settingsOfJob, targetOfJob } from './rows.ts'
import { readJobAnswer, requireJob } from './rules.ts'
import { lockJob, type MutableJobColumns, updateJob } from './store.ts'
import { deleteUnits, endUnits, resetFailedUnits, restartSoaks } from './units/change-units.ts'
import { listJobLocations } from './units/job-places.ts'
import { insertUnits } from './units/new-unit-store.ts'
import { countHiddenUnits, countUnits } from './units/unit-counts.ts'
import { listWaitingGroups } from './units/unit-store.ts'
import { isTooLateToRollBack, rollbackDays } from './view.ts'
import { listRoomIds } from './visible-target-store.ts'

type StepId = Extract<AuditedId, `jobs${string}`>

interface StepContext {
  readonly tx: Tx
  readonly job: JobRow
  readonly now: number
}

/** The outcome of a step: new values of the job, the message to channels, and details for the audit log. */
interface Decision {
  readonly changes: Partial<MutableJobColumns>
  readonly message?: JobMessage
  readonly details?: Readonly<Record<string, unknown>>
}

/** The units of a draft only decide who sees it. At the start they are found again, because the target is evaluated then. */
export async function jobsStart(ctx: RequestContext, jobId: string) {
  const draft = await requireJob(ctx.db, jobId)
  const content = { target: targetOfJob(draft), action: actionOfJob(draft), settings: settingsOfJob(draft) }
  const prepared = draft.state === 'DRAFT' ? await prepareJob(ctx, content) : undefined
  const units = prepared && (await newUnitsOf(prepared, ctx.clock.now()))
  // The units are replaced before the step itself, because that takes seconds for a hundred thousand of them.
  const replaceUnits = async (tx: Tx, job: JobRow) => {
    if (!prepared || !units) throw new Error('a job became a draft')
    requireAllowedJob(ctx, content, prepared)
    if (startedColumns(job, ctx.clock.now()).state === 'RUNNING') await requireJobSlot(tx)
    await deleteUnits(tx, job)
    await insertUnits(tx, job.id, units)
    return { ...job, unit_count: prepared.units.length, endpoint_count: prepared.endpointCount }
  }
  return takeStep(
    ctx,
    'jobsStart',
    'start',
    jobId,
    async ({ tx, job, now }) => {
      const started = startedColumns(job, now)
      // Others may have started jobs since the first check.
      if (started.state === 'RUNNING') await requireJobSlot(tx)
      return {
        changes: { ...started, ...actorColumns(ctx) },
        ...(started.state === 'RUNNING' && { message: 'job.started' }),
        details: { unitCount: job.unit_count, endpointCount: job.endpoint_count },
      }
    },
    { prepareDraft: replaceUnits },
  )
}

export const jobsPause = (ctx: RequestContext, jobId: string) =>
  takeStep(ctx, 'jobsPause', 'pause', jobId, async ({ tx, job, now }) => {
    tx.drafts.push(...(await takeBackReboots(tx, job, now)))
    return { changes: { state: 'PAUSED', reason: `Paused by ${ctx.actor.name}.` }, message: 'job.paused' }
  })

/** The caller becomes the actor of what follows, earlier failures no longer count, and soaks begin again. */
export const jobsResume = (ctx: RequestContext, jobId: string) =>
  takeStep(ctx, 'jobsResume', 'resume', jobId, async ({ tx, job, now }) => {
    await requireJobSlot(tx)
    await requireReferences(tx, actionOfJob(job))
    await restartJobSoaks(tx, job, now)
    return {
      changes: { state: 'RUNNING', reason: null, ...actorColumns(ctx), ...(await readFailureBaseline(tx, job)) },
      message: 'job.resumed',
    }
  })

export const jobsCancel = (ctx: RequestContext, jobId: string, { rollBack = false }: { rollBack?: boolean }) =>
  takeStep(ctx, 'jobsCancel', 'cancel', jobId, async ({ tx, job, now }) => {
    if (rollBack) await requireRollback(tx, job, now)
    await cancelWaitingReboots(tx, job, now)
    await cancelOpenUnits(tx, job, now)
    // A job that never started has changed nothing.
    if (rollBack && job.started_at !== null) {
      return { changes: { state: 'ROLLING_BACK', reason: null, ...actorColumns(ctx) } }
    }
    const changes = { state: 'CANCELLED', reason: null, ended_at: now } as const
    return { changes, ...(job.started_at !== null && { message: 'job.ended' }) }
  })

/** With `now`, a rollback that waits is hurried. */
export const jobsRollBack = (ctx: RequestContext, jobId: string, { now: isNow = false }: { now?: boolean }) => {
  const states = isNow ? statesForRollBackNow : statesForStep.rollBack
  return takeStep(
    ctx,
    'jobsRollBack',
    'rollBack',
    jobId,
    async ({ tx, job, now }) => {
      await requireRollback(tx, job, now)
      if (job.started_at === null) {
        throw new Failure('FAILED_PRECONDITION', `job ${job.id} never started, so there is nothing to roll back.`)
      }
      await cancelOpenUnits(tx, job, now)
      const changes = { state: 'ROLLING_BACK', reason: null, ended_at: null, rolls_back_now: isNow ? 1 : 0 } as const
      return { changes: { ...changes, ...actorColumns(ctx) }, details: { now: isNow } }
    },
    { states },
  )
}

const unfinishedStates = ['PENDING', 'SENT', 'FAILED'] as const
/** A config or a profile is set again on all endpoints of a unit. A restart or a message that is done is not repeated. */
const resentStates = [...unfinishedStates, 'DONE'] as const

export const jobsRetry = (ctx: RequestContext, jobId: string) =>
  takeStep(ctx, 'jobsRetry', 'retry', jobId, async ({ tx, job, now }) => {
    await requireJobSlot(tx)
    await requireReferences(tx, actionOfJob(job))
    await restartJobSoaks(tx, job, now)
    const attempt = job.attempt + 1
    const { effect } = jobActions[actionOfJob(job).type]
    const states = effect === 'config' ? resentStates : unfinishedStates
    const unitCount = await resetFailedUnits(tx, job, { attempt, states })
    if (unitCount === 0) {
      throw new Failure(
        'FAILED_PRECONDITION',
        `no unit of job ${job.id} failed or expired, so there is nothing to try again.`,
      )
    }
    const isLate = job.deadline !== null && job.deadline <= now
    return {
      changes: {
        state: 'RUNNING',
        reason: null,
        attempt,
        ended_at: null,
        ...(isLate && { deadline: now + defaultDeadlineMs }),
        ...actorColumns(ctx),
        ...(await readFailureBaseline(tx, job)),
      },
      message: 'job.resumed',
      details: { attempt, unitCount },
    }
  })

interface StepOptions {
  readonly states?: readonly JobState[]
  /** Changes a draft before other changes of the organisation have to wait, and returns it as it is then. */
  readonly prepareDraft?: (tx: Tx, job: JobRow) => Promise<JobRow>
}

const takeStep = (
  ctx: RequestContext,
  operation: StepId,
  step: JobStep,
  jobId: string,
  decide: (context: StepContext) => Promise<Decision>,
  { states = statesForStep[step], prepareDraft = async (_, job) => job }: StepOptions = {},
) => {
  const open = async (tx: Tx, id: number): Promise<JobRow> => {
    const job = mustFind(await lockJob(tx, { id }), `job ${jobId}`)
    requireScopeFor(ctx, actionOfJob(job).type)
    checkIfMatch(ctx, job.version)
    await requireAllUnits(tx, job)
    requireState(job, step, states)
    return job
  }
  const openDraft = async (tx: Tx) => {
    const { id, state } = await requireJob(tx, jobId)
    // The engine changes no drafts, so that only people wait for the row of one.
    return { id, draft: state === 'DRAFT' ? await prepareDraft(tx, await open(tx, id)) : undefined }
  }
  return change(
    ctx,
    operation,
    async (tx, { id, draft }) => {
      const before = draft ?? (await open(tx, id))
      const now = Math.max(ctx.clock.now(), before.updated_at)
      const { changes, message, details } = await decide({ tx, job: before, now })
      const row: JobRow = { ...before, ...changes, version: before.version + 1, updated_at: now }
      await updateJob(tx, row)
      const places = await listJobLocations(tx, row)
      tx.drafts.push(...jobEvents(row, places))
      if (message) await queueJobMessage(tx, message, row, places)
      return {
        result: await readJobAnswer(ctx, tx, row),
        target: jobRef(row),
        before: { state: before.state },
        after: { state: row.state, ...details },
        located: locatedRows(places),
      }
    },
    openDraft,
  )
}

/** A caller who sees a part of a job can look at that part, but not steer the whole. [contract 12.rights] */
async function requireAllUnits(tx: Tx, job: JobRow): Promise<void> {
  const { id } = job
  const hidden = await countHiddenUnits(tx, job)
  if (hidden === 0) return
  throw new Failure(
    'FAILED_PRECONDITION',
    `job ${id} also has ${hidden} ${hidden === 1 ? 'unit' : 'units'} in regions that you do not see, so nothing was done. Ask a person with access to these regions.`,
  )
}

const stepWords: Readonly<Record<JobStep, string>> = {
  start: 'started',
  pause: 'paused',
  resume: 'resumed',
  cancel: 'cancelled',
  rollBack: 'rolled back',
  retry: 'tried again',
}

function requireState({ id, state }: JobRow, step: JobStep, allowed: readonly JobState[]): void {
  if (allowed.includes(state)) return
  throw new Failure(
    'FAILED_PRECONDITION',
    `job ${id} is ${state}. It can be ${stepWords[step]} only while it is ${allowed.join(' or ')}.`,
  )
}

async function requireRollback(tx: Tx, job: JobRow, now: number): Promise<void> {
  const { type, roomId } = actionOfJob(job)
  if (!isReversible(type)) {
    throw new Failure(
      'FAILED_PRECONDITION',
      `a job of the type ${type} cannot be rolled back, only ${actionTypesWith(({ rollback }) => rollback !== null)} can.`,
    )
  }
  if (isTooLateToRollBack(job, now)) {
    throw new Failure(
      'FAILED_PRECONDITION',
      `job ${job.id} ended more than ${rollbackDays} days ago. Make the change with a new job instead.`,
    )
  }
  // The endpoints are now in that room. One that was deleted is refused too, otherwise the answer would say whether a hidden room exists.
  if (roomId === undefined || tx.access.isEverything || (await listRoomIds(tx, { ids: [roomId] })).length > 0) return
  throw new Failure(
    'FAILED_PRECONDITION',
    `job ${job.id} moved endpoints to a room that you do not see, so nothing was done. Ask a person who sees all regions.`,
  )
}

/** Units that run end as they are: what was sent stays sent, and a rollback finds it by the endpoints. */
const cancelOpenUnits = (tx: Tx, job: JobRow, now: number) =>
  endUnits(tx, job, { states: openUnitStates, state: 'CANCELLED', reason: null, now })

/** Reboots that wait for empty rooms were not sent, so that they end with the job. */
async function cancelWaitingReboots(tx: Tx, { id, action }: JobRow, now: number): Promise<void> {
  if (!jobActions[actionOfJob({ action }).type].isDeferred) return
  const groups = (await listWaitingGroups(tx, { job: id })).flatMap(({ group_id }) => group_id ?? [])
  await cancelGroups(tx, groups, now)
}

/** Devices may have been away while the job stood still, and nothing of that time counts against its units. */
const restartJobSoaks = (tx: Tx, job: JobRow, now: number) =>
  restartSoaks(tx, job, { now, soakUntil: now + settingsOfJob(job).soakMinutes * minuteMs })

/** Units that have begun and ended no longer count towards the limit of failures. Those that still run or soak do. */
async function readFailureBaseline(tx: Tx, job: JobRow) {
  const counts = await countUnits(tx, [job])
  const ended = counts.filter(({ state }) => state !== 'RUNNING' && state !== 'SOAKING')
  const sum = (rows: typeof counts) => rows.reduce((total, { begun }) => total + begun, 0)
  return { begun_before: sum(ended), failed_before: sum(ended.filter(({ state }) => state === 'FAILED')) }
}
