// Carries out the operations on recurring jobs, one function for each. [contract 12.recurring]

import { configKeys } from '../../../contract/device/config-keys.ts'
import { actionTypesWith, jobActions, waitsForIdleByDefault } from '../../../contract/jobs/action-table.ts'
import { defaultWithinHours, maxRecurringJobs } from '../../../contract/jobs/recurring-jobs.ts'
import type { AuditedId } from '../../../contract/operations.ts'
import { weekdays } from '../../../contract/weekly-hours.ts'
import type { InputOf } from '../../context/handlers.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, invalid, mustFind } from '../../core/failure.ts'
import { parseInt32 } from '../../core/int32.ts'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { nextId } from '../../db/queries/next-id.ts'
import { AuditedFields } from '../../journal/audit/audited-fields.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { requireScopeFor } from '../action.ts'
import { locatedRows } from '../announce.ts'
import { actorColumns, namedPlaces } from '../create.ts'
import { prepareJob, requireAllowedJob } from '../request/prepare.ts'
import { type CheckedRequest, checkRequest } from '../request/request.ts'
import { actionOfJob, settingsOfJob, targetOfJob } from '../rows.ts'
import { countHiddenPlaces, findLocations, listPlaces, writeLocations } from './locations.ts'
import {
  countRecurringJobs,
  deleteRecurringJob,
  findRecurringJob,
  insertRecurringJob,
  listRecurringJobs,
  lockRecurringJob,
  type RecurringJobRow,
  updateRecurringJob,
} from './store.ts'
import { recurringJobAnswer, recurringJobViews, scheduleOf } from './view.ts'

type Body = InputOf<'recurringJobsCreate'>['body']

export const recurringJobsList = async (ctx: RequestContext) => ({
  recurringJobs: await recurringJobViews(ctx, ctx.db, await listRecurringJobs(ctx.db)),
})

export const recurringJobsGet = async (ctx: RequestContext, id: string) =>
  recurringJobAnswer(ctx, ctx.db, await requireRecurringJob(ctx.db, id))

export async function recurringJobsCreate(ctx: RequestContext, body: Body) {
  const content = await contentOf(ctx, body)
  const { locations, ...found } = await findLocations(ctx.db, content)
  return change(ctx, 'recurringJobsCreate', async (tx) => {
    if (Number((await countRecurringJobs(tx))?.count ?? 0) >= maxRecurringJobs) {
      throw new Failure(
        'FAILED_PRECONDITION',
        `there are ${maxRecurringJobs} recurring jobs already. Delete one of them first.`,
      )
    }
    const now = ctx.clock.now()
    const row: RecurringJobRow = {
      ...content,
      ...actorColumns(ctx),
      id: await nextId(tx, 'recurringJob'),
      version: 1,
      state: 'ACTIVE',
      reason: null,
      unplaced: found.unplaced,
      created_at: now,
      handled_until: now,
    }
    await insertRecurringJob(tx, row)
    await writeLocations(tx, row.id, { locations, ...found })
    return {
      result: await recurringJobAnswer(ctx, tx, row),
      target: recurringJobRef(row),
      after: audited.all(row),
      located: locatedRows(await listPlaces(tx, row)),
      named: namedPlacesOf(row),
    }
  })
}

export async function recurringJobsUpdate(ctx: RequestContext, id: string, body: Body) {
  await requireRecurringJob(ctx.db, id)
  const content = await contentOf(ctx, body)
  const found = await findLocations(ctx.db, content)
  return changeOne(ctx, 'recurringJobsUpdate', id, async (tx, before, now) => {
    await writeLocations(tx, before.id, found)
    return { ...before, ...content, ...actorColumns(ctx), unplaced: found.unplaced, handled_until: now }
  })
}

export const recurringJobsPause = (ctx: RequestContext, id: string) =>
  changeOne(ctx, 'recurringJobsPause', id, async (_, before) => {
    requireState(before, 'ACTIVE')
    return { ...before, state: 'PAUSED', reason: `Paused by ${ctx.actor.name}.` }
  })

/** The caller becomes the actor of later runs. */
export async function recurringJobsResume(ctx: RequestContext, id: string) {
  const found = await findLocations(ctx.db, await requireRecurringJob(ctx.db, id))
  return changeOne(ctx, 'recurringJobsResume', id, async (tx, before, now) => {
    requireState(before, 'PAUSED')
    await writeLocations(tx, before.id, found)
    const row = { ...before, ...actorColumns(ctx), unplaced: found.unplaced, handled_until: now }
    return { ...row, state: 'ACTIVE', reason: null }
  })
}

export const recurringJobsDelete = (ctx: RequestContext, id: string) =>
  change(ctx, 'recurringJobsDelete', async (tx) => {
    const row = await openRecurringJob(ctx, tx, id)
    const located = locatedRows(await listPlaces(tx, row))
    await deleteRecurringJob(tx, { id: row.id })
    return { result: {}, target: recurringJobRef(row), before: audited.all(row), located, named: namedPlacesOf(row) }
  })

const changeOne = (
  ctx: RequestContext,
  operation: Extract<AuditedId, `recurringJobs${string}`>,
  id: string,
  decide: (tx: Tx, before: RecurringJobRow, now: number) => Promise<RecurringJobRow>,
) =>
  change(ctx, operation, async (tx) => {
    const before = await openRecurringJob(ctx, tx, id)
    const placesBefore = await listPlaces(tx, before)
    const row = { ...(await decide(tx, before, ctx.clock.now())), version: before.version + 1 }
    await updateRecurringJob(tx, row)
    return {
      result: await recurringJobAnswer(ctx, tx, row),
      target: recurringJobRef(row),
      ...audited.change(before, row),
      located: locatedRows([...placesBefore, ...(await listPlaces(tx, row))]),
      named: namedPlacesOf(row),
    }
  })

export const recurringJobRef = (row: Pick<RecurringJobRow, 'id' | 'name'>) => auditRef('recurringJob', row)

const namedPlacesOf = (row: RecurringJobRow) => namedPlaces({ target: targetOfJob(row), action: actionOfJob(row) })

async function requireRecurringJob(on: OrgReader, recurringJobId: string): Promise<RecurringJobRow> {
  const id = parseInt32(recurringJobId)
  return mustFind(id === undefined ? undefined : await findRecurringJob(on, { id }), `recurring job ${recurringJobId}`)
}

/** Locks it, and refuses a caller who may not do its action, or sees only a part of it. */
async function openRecurringJob(ctx: RequestContext, tx: Tx, recurringJobId: string): Promise<RecurringJobRow> {
  const { id } = await requireRecurringJob(tx, recurringJobId)
  const row = mustFind(await lockRecurringJob(tx, { id }), `recurring job ${recurringJobId}`)
  requireScopeFor(ctx, actionOfJob(row).type)
  checkIfMatch(ctx, row.version)
  const hidden = await countHiddenPlaces(tx, row)
  if (hidden === 0) return row
  throw new Failure(
    'FAILED_PRECONDITION',
    `recurring job ${id} also has rooms in regions that you do not see, so nothing was done. Ask a person with access to these regions.`,
  )
}

function requireState({ id, state }: RecurringJobRow, needed: RecurringJobRow['state']): void {
  if (state === needed) return
  throw new Failure(
    'FAILED_PRECONDITION',
    `recurring job ${id} is ${state}. It can be ${needed === 'ACTIVE' ? 'paused' : 'resumed'} only while it is ${needed}.`,
  )
}

type Content = Pick<RecurringJobRow, 'name' | 'action' | 'target' | 'settings' | 'schedule' | 'within_hours'>

/** Checks the request as that of a job which begins now, and fills in what it leaves out. */
async function contentOf(ctx: RequestContext, body: Body): Promise<Content> {
  const { schedule, withinHours = defaultWithinHours, ...job } = body
  requireRecurringAction(job.action)
  const request = checkRequest(job, ctx.clock.now())
  const settings = {
    ...request.settings,
    // All rooms begin together, and one that fails must not keep the others from it.
    failures: { percent: 100, atLeast: 1 },
    onFailure: 'pause' as const,
    respect: {
      window: body.respect?.window ?? false,
      idle: body.respect?.idle ?? waitsForIdleByDefault(job.action, true),
    },
  }
  const prepared = await prepareJob(ctx, { ...request, settings })
  requireAllowedJob(ctx, { ...request, settings }, prepared)
  return {
    name: request.name,
    action: JSON.stringify(request.action),
    target: JSON.stringify(request.target),
    settings: JSON.stringify(settings),
    schedule: JSON.stringify({ days: weekdays.filter((day) => schedule.days.includes(day)), at: schedule.at }),
    within_hours: withinHours,
  }
}

function requireRecurringAction({ type, config = {} }: CheckedRequest['action']): void {
  if (!jobActions[type].recurs) {
    const error = `cannot be repeated. Use one of ${actionTypesWith(({ recurs }) => recurs)}`
    throw invalid([{ field: 'action.type', error }])
  }
  const secret = Object.keys(config).find((name) => configKeys[name]?.secret === true)
  if (secret !== undefined) {
    throw invalid([
      { field: `action.config.${secret}`, error: 'is a password, which is not repeated. Set it with a profile' },
    ])
  }
}

const audited = new AuditedFields(
  (row: RecurringJobRow) => ({
    name: row.name,
    state: row.state,
    schedule: scheduleOf(row),
    target: targetOfJob(row),
    action: actionOfJob(row),
    withinHours: row.within_hours,
    settings: settingsOfJob(row),
  }),
  ['name'],
)
