// A recurring job as answers show it: its request, its next runs and its last ones. [contract 12.recurring]

import { hash } from 'node:crypto'
import { shownRuns } from '../../../contract/jobs/recurring-jobs.ts'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { VersionedAnswer } from '../../context/answers.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { isoTime } from '../../core/clock.ts'
import { nextWeeklyTime, type WeeklyTime } from '../../core/time/weekly-times.ts'
import type { OrgReader } from '../../db/handles.ts'
import { actionOfJob, settingsOfJob } from '../rows.ts'
import { visibleTarget, withVisibleActions } from '../visible-target.ts'
import { isWhollyVisible } from './locations.ts'
import {
  listRuns,
  listTimeZone,
  listVisibleRuns,
  listZonesOfRecurringJobs,
  type RecurringJobRow,
  type RunRow,
} from './store.ts'

type View = ResponseOf<Operations['recurringJobsGet']>

export const scheduleOf = ({ schedule }: Pick<RecurringJobRow, 'schedule'>): WeeklyTime => JSON.parse(schedule)

/** Returns the time zones of the locations that the caller sees, by recurring job. */
export async function readZones(
  on: OrgReader,
  rows: readonly Pick<RecurringJobRow, 'id' | 'unplaced'>[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  const [org] = await listTimeZone(on)
  const own = org?.timezone ?? 'UTC'
  const byId = Map.groupBy(await listZonesOfRecurringJobs(on), ({ id }) => id)
  return new Map(
    rows.map(({ id, unplaced }) => {
      const zones = (byId.get(id) ?? []).map(({ timezone }) => timezone ?? own)
      const nowhere = unplaced === 1 && on.access.isEverything ? [own] : []
      return [id, [...new Set([...zones, ...nowhere])].sort()]
    }),
  )
}

export async function recurringJobViews(
  ctx: RequestContext,
  on: OrgReader,
  rows: readonly RecurringJobRow[],
): Promise<View[]> {
  const zones = await readZones(on, rows)
  const views: View[] = []
  for (const row of await withVisibleActions(on, rows)) {
    const runs = await listShownRuns(on, row)
    views.push(await viewOf(on, row, { zones: zones.get(row.id) ?? [], runs, now: ctx.clock.now() }))
  }
  return views
}

/** Runs come without a new version, so a hash of them is a part of the ETag. */
export async function recurringJobAnswer(ctx: RequestContext, on: OrgReader, row: RecurringJobRow) {
  const [view] = await recurringJobViews(ctx, on, [row])
  if (!view) throw new Error(`recurring job ${row.id} has no view`)
  const changing = JSON.stringify([view.nextRuns, view.runs])
  return new VersionedAnswer(row.version, view, hash('sha1', changing, 'base64url'))
}

/** A run that was skipped has no rooms. Its reason may name some, so only a caller who sees all locations gets it. */
async function listShownRuns(on: OrgReader, row: RecurringJobRow): Promise<RunRow[]> {
  const page = { id: row.id, limit: shownRuns }
  return (await isWhollyVisible(on, row)) ? listRuns(on, page) : listVisibleRuns(on, page)
}

interface ViewParts {
  readonly zones: readonly string[]
  readonly runs: readonly RunRow[]
  readonly now: number
}

async function viewOf(on: OrgReader, row: RecurringJobRow, { zones, runs, now }: ViewParts): Promise<View> {
  const { respect, pace, skipConflicts } = settingsOfJob(row)
  const schedule = scheduleOf(row)
  const next = zones.map((timezone) => ({ timezone, at: nextWeeklyTime(schedule, timezone, now) }))
  return {
    id: String(row.id),
    name: row.name,
    target: await visibleTarget(on, row),
    action: actionOfJob(row),
    schedule: { days: [...schedule.days], at: schedule.at },
    withinHours: row.within_hours,
    respect,
    pace,
    skipConflicts,
    state: row.state,
    ...(row.reason !== null && (await isWhollyVisible(on, row)) && { reason: row.reason }),
    startedBy: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    createdAt: isoTime(row.created_at),
    nextRuns:
      row.state === 'ACTIVE'
        ? next.sort((a, b) => a.at - b.at).map(({ at, timezone }) => ({ at: isoTime(at), timezone }))
        : [],
    runs: runs.map(({ at, timezone, job_id, reason }) => ({
      at: isoTime(at),
      timezone,
      outcome: job_id === null ? 'SKIPPED' : 'STARTED',
      ...(job_id !== null && { jobId: String(job_id) }),
      ...(reason !== null && { reason }),
    })),
  }
}
