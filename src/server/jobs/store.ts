// SQL of jobs. Their units and endpoints are in units/unit-store.ts.

import { type Kysely, type Selectable, sql } from 'kysely'
import type { EngineName } from '../db/engine.ts'
import { isActiveJob } from '../db/queries/active-job.ts'
import { isAnyOf } from '../db/queries/any-of.ts'
import {
  visibleQuery,
  visibleQueryOne,
  wholeQuery,
  wholeQueryOne,
  write,
  writeAny,
  writeOne,
} from '../db/queries/query.ts'
import type { DatabaseSchema } from '../db/schema/schema.ts'

type JobRowKey = { org: number; id: number }
/** The parameters of a query about the parts of one job. */
export type JobKey = { org: number; job: number }
type Row = Omit<Selectable<DatabaseSchema['jobs']>, 'org'>

const columns = [
  'j.id',
  'j.version',
  'j.name',
  'j.state',
  'j.reason',
  'j.action',
  'j.secrets',
  'j.target',
  'j.settings',
  'j.actor_type',
  'j.actor_id',
  'j.actor_name',
  'j.user_id',
  'j.key_id',
  'j.attempt',
  'j.stage',
  'j.stage_times',
  'j.stage_count',
  'j.unit_count',
  'j.endpoint_count',
  'j.begun_before',
  'j.failed_before',
  'j.rolls_back_now',
  'j.progress',
  'j.created_at',
  'j.updated_at',
  'j.start_at',
  'j.started_at',
  'j.ended_at',
  'j.deadline',
] as const

/** A caller sees a job if one of its units is visible. [contract 12.rights] */
export const findJob = visibleQueryOne('job', 'j.id', (db, p: JobRowKey) =>
  db.selectFrom('jobs as j').select(columns).where('j.org', '=', p.org).where('j.id', '=', p.id),
)

/** On PostgreSQL the lock makes people and the engine take turns. SQLite has one writer at a time anyway. */
export const lockJob = writeOne((db, p: JobRowKey, engine) =>
  db
    .selectFrom('jobs as j')
    .select(columns)
    .where('j.org', '=', p.org)
    .where('j.id', '=', p.id)
    .$if(engine === 'postgres', (q) => q.forUpdate()),
)

interface ListValues {
  readonly org: number
  readonly states: readonly Row['state'][]
  readonly before: number
  readonly limit: number
}
const selectJobs = (db: Kysely<DatabaseSchema>, p: ListValues, engine: EngineName) =>
  db
    .selectFrom('jobs as j')
    .select(columns)
    .where('j.org', '=', p.org)
    .where('j.id', '<', p.before)
    .where(isAnyOf(engine, 'j.state', p.states))
    .orderBy('j.id', 'desc')
    .limit(p.limit)

/** Lists jobs in some states, newest first, from before an id. */
export const listJobs = visibleQuery('job', 'j.id', selectJobs)

/** Lists jobs that have a unit of one room, like `listJobs`. */
export const listJobsOfRoom = visibleQuery('job', 'j.id', (db, p: ListValues & { room: number }, engine) =>
  selectJobs(db, p, engine).where('j.id', 'in', (one) =>
    one.selectFrom('job_unit_rooms as m').select('m.job_id').where('m.org', '=', p.org).where('m.room_id', '=', p.room),
  ),
)

/** Lists the jobs that are scheduled, or have started and not ended, by id. */
export const listActiveJobs = wholeQuery((db, p: { org: number }) =>
  db.selectFrom('jobs as j').select(columns).where('j.org', '=', p.org).where(isActiveJob).orderBy('j.id'),
)

/** Counts the jobs that run and have more to do than to wait for devices that are offline. */
export const countBusyJobs = wholeQueryOne((db, p: { org: number }) =>
  db
    .selectFrom('jobs as j')
    .select(sql<number>`cast(count(*) as integer)`.as('count'))
    .where('j.org', '=', p.org)
    .where(isActiveJob)
    .where('j.state', '=', 'RUNNING')
    .where((e) =>
      e.exists(
        e
          .selectFrom('job_units as u')
          .select('u.number')
          .whereRef('u.org', '=', 'j.org')
          .whereRef('u.job_id', '=', 'j.id')
          .where('u.state', 'in', ['PENDING', 'WAITING', 'RUNNING', 'SOAKING'])
          .where(sql<boolean>`not (u.state = 'WAITING' and coalesce(u.reason, '') = 'connection')`),
      ),
    ),
)

export const insertJob = write((db, p: { org: number } & Row) =>
  db.insertInto('jobs').values({
    org: p.org,
    id: p.id,
    version: p.version,
    name: p.name,
    state: p.state,
    reason: p.reason,
    action: p.action,
    secrets: p.secrets,
    target: p.target,
    settings: p.settings,
    actor_type: p.actor_type,
    actor_id: p.actor_id,
    actor_name: p.actor_name,
    user_id: p.user_id,
    key_id: p.key_id,
    attempt: p.attempt,
    stage: p.stage,
    stage_times: p.stage_times,
    stage_count: p.stage_count,
    unit_count: p.unit_count,
    endpoint_count: p.endpoint_count,
    begun_before: p.begun_before,
    failed_before: p.failed_before,
    rolls_back_now: p.rolls_back_now,
    created_at: p.created_at,
    updated_at: p.updated_at,
    start_at: p.start_at,
    started_at: p.started_at,
    ended_at: p.ended_at,
    deadline: p.deadline,
  }),
)

/** The columns that people's steps change. The engine changes `progress`. */
export type MutableJobColumns = Omit<
  Row,
  'name' | 'action' | 'secrets' | 'target' | 'settings' | 'created_at' | 'start_at' | 'progress'
>
/** The caller raises the version. */
export const updateJob = writeAny((db, p: { org: number } & MutableJobColumns) =>
  db
    .updateTable('jobs')
    .set({
      version: p.version,
      state: p.state,
      reason: p.reason,
      actor_type: p.actor_type,
      actor_id: p.actor_id,
      actor_name: p.actor_name,
      user_id: p.user_id,
      key_id: p.key_id,
      attempt: p.attempt,
      stage: p.stage,
      stage_times: p.stage_times,
      stage_count: p.stage_count,
      unit_count: p.unit_count,
      endpoint_count: p.endpoint_count,
      begun_before: p.begun_before,
      failed_before: p.failed_before,
      rolls_back_now: p.rolls_back_now,
      updated_at: p.updated_at,
      started_at: p.started_at,
      ended_at: p.ended_at,
      deadline: p.deadline,
    })
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)
