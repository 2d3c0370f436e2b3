// Carries out the operations that read jobs, one function for each. [contract 12.rights]

import { type JobState, jobStates, unitStates } from '../../contract/jobs/job-states.ts'
import { searchWords } from '../../contract/search-text.ts'
import { int32 } from '../../contract/shape.ts'
import type { InputOf } from '../context/handlers.ts'
import type { RequestContext } from '../context/request-context.ts'
import { mustFind } from '../core/failure.ts'
import { parseInt32 } from '../core/int32.ts'
import { cutPage, pageContext, pageSizeOf, positionOfPageToken } from '../core/page-token.ts'
import type { OrgReader } from '../db/handles.ts'
import { findRoom } from '../fleet/rooms/store.ts'
import { isFinalState, type JobRow } from './rows.ts'
import { findJob, listJobs, listJobsOfRoom } from './store.ts'
import { listUnitsFrom, unitGroups } from './units/list-units.ts'
import { countVisibleUnits } from './units/unit-counts.ts'
import { listEndpointsOfUnits, listRoomsOfUnits } from './units/unit-store.ts'
import { jobAnswer, jobView, unitView } from './view.ts'
import { visibleTarget, withVisibleActions } from './visible-target.ts'

const defaultPageItems = 100
const maxPageSize = 1000

export async function jobsList(
  ctx: RequestContext,
  { state, roomId, pageSize, pageToken = '' }: InputOf<'jobsList'>['query'],
) {
  const size = pageSizeOf(pageSize, defaultPageItems, maxPageSize)
  const context = pageContext(ctx, 'jobs', state ?? '', roomId ?? '')
  const before = pageToken === '' ? int32.maximum : positionOfPageToken(ctx.secrets, context, pageToken).seq
  const values = { states: statesOf(state), before, limit: size + 1 }
  const rows = await (roomId === undefined ? listJobs(ctx.db, values) : jobsOfRoom(ctx, { ...values, room: roomId }))
  const { page, nextPageToken } = cutPage(ctx.secrets, context, rows, size, ({ id }) => ({ timestamp: 0, seq: id }))
  const counts = await countVisibleUnits(ctx.db, page)
  const byJob = Map.groupBy(counts, (count) => count.job_id)
  const now = ctx.clock.now()
  return {
    jobs: (await withVisibleActions(ctx.db, page)).map((row) => jobView(row, byJob.get(row.id) ?? [], now)),
    nextPageToken,
  }
}

/** A room that the caller does not see has no jobs, also if other rooms of them are visible. */
const jobsOfRoom = async (ctx: RequestContext, values: Omit<Parameters<typeof listJobsOfRoom>[1], 'org'>) =>
  (await findRoom(ctx.db, { id: values.room })) === undefined ? [] : listJobsOfRoom(ctx.db, values)

function statesOf(state: InputOf<'jobsList'>['query']['state']): readonly JobState[] {
  if (state === undefined) return jobStates
  if (state !== 'open') return [state]
  return jobStates.filter((known) => !isFinalState(known))
}

export async function jobsGet(ctx: RequestContext, jobId: string) {
  return readJobAnswer(ctx, ctx.db, await requireJob(ctx.db, jobId))
}

export async function jobsRoomsList(
  ctx: RequestContext,
  jobId: string,
  { state, stage, roomId, failed, order, text, pageSize, pageToken = '' }: InputOf<'jobsRoomsList'>['query'],
) {
  const { id } = await requireJob(ctx.db, jobId)
  const size = pageSizeOf(pageSize, defaultPageItems, maxPageSize)
  const filters = [state ?? '', stage ?? '', roomId ?? '', String(failed), order ?? '', text ?? '']
  const context = pageContext(ctx, 'job units', id, ...filters)
  const first = { timestamp: 0, seq: 0 }
  const rows = await listUnitsFrom(
    ctx.db,
    {
      groups: unitGroups(state === undefined ? unitStates : [state], { failed, order }),
      page: { job: id, firstStage: stage ?? 0, lastStage: stage ?? int32.maximum, room: roomId },
      words: searchWords(text ?? ''),
      limit: size + 1,
    },
    pageToken === '' ? first : positionOfPageToken(ctx.secrets, context, pageToken),
  )
  const { page, nextPageToken } = cutPage(ctx.secrets, context, rows, size, ({ position }) => position)
  const units = page.map(({ row: { number } }) => number)
  const rooms = Map.groupBy(await listRoomsOfUnits(ctx.db, { job: id, units }), ({ unit }) => unit)
  const endpoints = Map.groupBy(await listEndpointsOfUnits(ctx.db, { job: id, units }), ({ unit }) => unit)
  return {
    rooms: page.map(({ row }) => unitView(row, rooms.get(row.number) ?? [], endpoints.get(row.number) ?? [])),
    nextPageToken,
  }
}

export async function requireJob(on: OrgReader, jobId: string): Promise<JobRow> {
  const id = parseInt32(jobId)
  return mustFind(id === undefined ? undefined : await findJob(on, { id }), `job ${jobId}`)
}

/** Reads the rest of a job, also in the transaction that has just changed it. */
export async function readJobAnswer(ctx: RequestContext, on: OrgReader, row: JobRow) {
  const counts = await countVisibleUnits(on, [row])
  const [shown = row] = await withVisibleActions(on, [row])
  return jobAnswer(shown, await visibleTarget(on, row), counts, ctx.clock.now())
}
