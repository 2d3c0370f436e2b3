// Creates a job, as a draft or started immediately. [contract 12.job]

import type { InputOf } from '../context/handlers.ts'
import type { RequestContext } from '../context/request-context.ts'
import { Failure } from '../core/failure.ts'
import type { OrgReader, Tx } from '../db/handles.ts'
import { nextId } from '../db/queries/next-id.ts'
import type { EventSubjects } from '../events/draft.ts'
import { change } from '../journal/audit/change.ts'
import { maskAction, sealAction } from './action.ts'
import { jobEvents, jobRef, locatedRows, queueJobMessage } from './announce.ts'
import { newUnitsOf, type PreparedJob, prepareJob, requireAllowedJob } from './request/prepare.ts'
import { type CheckedRequest, checkRequest, defaultDeadlineMs } from './request/request.ts'
import type { JobRow } from './rows.ts'
import { readJobAnswer } from './rules.ts'
import { countBusyJobs, insertJob, updateJob } from './store.ts'
import { listJobLocations } from './units/job-places.ts'
import { insertUnits } from './units/new-unit-store.ts'

/** Limits the jobs that an organisation runs at the same time. [contract 12.states] */
const maxRunningJobs = 10

export function jobsCreate(ctx: RequestContext, { start = false, ...body }: InputOf<'jobsCreate'>['body']) {
  return createJob(ctx, checkRequest(body, ctx.clock.now()), { start })
}

interface CreateOptions {
  readonly start: boolean
  /** For a run of a recurring job. The engine starts it when fewer jobs run, instead of refusing it. */
  readonly run?: {
    readonly recurringJob: number
    /** Writes the run in the transaction of its job. */
    readonly write: (tx: Tx, job: JobRow) => Promise<void>
  }
}

/** Creates a job, and schedules or starts it. The caller has checked the request itself. */
export async function createJob(ctx: RequestContext, request: CheckedRequest, { start, run }: CreateOptions) {
  const prepared = await prepareJob(ctx, request)
  requireAllowedJob(ctx, request, prepared)
  const units = await newUnitsOf(prepared, ctx.clock.now())
  // A hundred thousand units take seconds to insert, and nothing refers to them yet.
  const insertDraft = async (tx: Tx): Promise<JobRow> => {
    const draft = {
      ...newDraft(ctx, await nextId(tx, 'job'), request, prepared),
      recurring_job: run?.recurringJob ?? null,
    }
    if (!run && start && startedColumns(draft, draft.created_at).state === 'RUNNING') await requireJobSlot(tx)
    await insertJob(tx, draft)
    await insertUnits(tx, draft.id, units)
    return draft
  }
  return change(
    ctx,
    'jobsCreate',
    async (tx, draft) => {
      const row = run ? await scheduleRun(tx, draft) : start ? await startDraft(tx, draft, ctx.clock.now()) : draft
      await run?.write(tx, row)
      const places = await listJobLocations(tx, row)
      tx.drafts.push(...jobEvents(row, places))
      if (row.state === 'RUNNING') await queueJobMessage(tx, 'job.started', row, places)
      return {
        result: await readJobAnswer(ctx, tx, row),
        target: jobRef(row),
        after: {
          state: row.state,
          target: request.target,
          action: maskAction(request.action),
          settings: request.settings,
          unitCount: row.unit_count,
          endpointCount: row.endpoint_count,
          ...(run && { recurringJobId: String(run.recurringJob) }),
        },
        located: locatedRows(places),
        named: namedPlaces(request),
      }
    },
    insertDraft,
  )
}

/** The places and endpoints that the request names, whether or not one of them is in a unit. [contract 11.entries] */
export function namedPlaces({ target, action }: Pick<CheckedRequest, 'target' | 'action'>): EventSubjects {
  const { exclude = {} } = target
  return {
    endpoints: [...(target.endpointIds ?? []), ...(exclude.endpointIds ?? [])],
    rooms: [
      ...(target.roomIds ?? []),
      ...(exclude.roomIds ?? []),
      ...(action.roomId === undefined ? [] : [action.roomId]),
    ],
    locations: [...(target.locationIds ?? []), ...(exclude.locationIds ?? [])],
    regions: [...(target.regionIds ?? []), ...(exclude.regionIds ?? [])],
  }
}

function newDraft(ctx: RequestContext, id: number, request: CheckedRequest, prepared: PreparedJob): JobRow {
  const now = ctx.clock.now()
  return {
    id,
    version: 1,
    name: request.name,
    state: 'DRAFT',
    reason: null,
    ...sealAction(request.action, ctx.secrets, ctx.org, id),
    target: JSON.stringify(request.target),
    settings: JSON.stringify(request.settings),
    ...actorColumns(ctx),
    attempt: 1,
    stage: 0,
    stage_times: '[]',
    stage_count: request.settings.stages.length,
    unit_count: prepared.units.length,
    endpoint_count: prepared.endpointCount,
    begun_before: 0,
    failed_before: 0,
    rolls_back_now: 0,
    progress: 0,
    created_at: now,
    updated_at: now,
    start_at: request.startAt,
    started_at: null,
    ended_at: null,
    deadline: request.deadline,
    recurring_job: null,
  }
}

/** The engine starts it in its next run, or when another job has ended. */
async function scheduleRun(tx: Tx, draft: JobRow): Promise<JobRow> {
  const row: JobRow = { ...draft, state: 'SCHEDULED' }
  await updateJob(tx, row)
  return row
}

/** Starts a draft in the transaction that made it. */
async function startDraft(tx: Tx, draft: JobRow, now: number): Promise<JobRow> {
  const row: JobRow = { ...draft, ...startedColumns(draft, now), updated_at: Math.max(now, draft.updated_at) }
  // Others may have started jobs since the first check.
  if (row.state === 'RUNNING') await requireJobSlot(tx)
  await updateJob(tx, row)
  return row
}

/** The actor of what a job does from now on, and the user or key whose rights are checked at each step. */
export function actorColumns({ actor, user, key }: RequestContext) {
  if (actor.type === 'DEVICE' || actor.type === 'SYSTEM') throw new Error(`a job cannot have an actor ${actor.type}`)
  return {
    actor_type: actor.type,
    actor_id: actor.id,
    actor_name: actor.name,
    user_id: user?.id ?? null,
    key_id: key?.id ?? null,
  }
}

/** The columns that a start changes in a draft. The engine starts the first stage. */
export function startedColumns(job: Pick<JobRow, 'start_at' | 'deadline'>, now: number) {
  const { start_at, deadline } = job
  const isLater = start_at !== null && start_at > now
  const end = deadline ?? (isLater ? start_at : now) + defaultDeadlineMs
  if (end <= now) {
    throw new Failure('FAILED_PRECONDITION', 'the deadline of the job has passed. Create it again with a later one.')
  }
  return isLater
    ? ({ state: 'SCHEDULED', started_at: null, deadline: end } as const)
    : ({ state: 'RUNNING', started_at: now, deadline: end } as const)
}

export async function requireJobSlot(on: OrgReader): Promise<void> {
  if (await hasJobSlot(on)) return
  throw new Failure(
    'FAILED_PRECONDITION',
    `${maxRunningJobs} jobs are running already. Wait until one has ended, or pause or cancel one first.`,
  )
}

/** A job that waits only for devices that are offline takes no slot: in a large fleet some are always offline. */
export const hasJobSlot = async (on: OrgReader): Promise<boolean> =>
  ((await countBusyJobs(on))?.count ?? 0) < maxRunningJobs
