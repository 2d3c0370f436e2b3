// SQL of jobs. Their units and endpoints are in units/unit-store.ts.

import { type Kysely, type Selectable, sql } from 'kysely'
import type { EngineName } from '../db/engine.ts'
import { isActiveJob } from '../db/queries/active-job.ts'
import { isAnyOf } from '../db/queries/any-of.ts'
import { pickColumns } from '../db/queries/columns.ts'
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

/** The columns that are written once. */
const fixedColumns = [
  'id',
  'name',
  'action',
  'secrets',
  'target',
  'settings',
  'created_at',
  'start_at',
  'recurring_job',
] as const
/** The columns that people's steps change. The engine changes `progress`. */
const mutableColumns = [
  'version',
  'state',
  'reason',
  'actor_type',
  'actor_id',
  'actor_name',
  'user_id',
  'key_id',
  'attempt',
  'stage',
  'stage_times',
  'stage_count',
  'unit_count',
  'endpoint_count',
  'begun_before',
  'failed_before',
  'rolls_back_now',
  'updated_at',
  'started_at',
  'ended_at',
  'deadline',
] as const
const columns = ([...fixedColumns, ...mutableColumns, 'progress'] as const).map((column) => `j.${column}` as const)

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
  db.insertInto('jobs').values({ org: p.org, ...pickColumns(p, [...fixedColumns, ...mutableColumns]) }),
)

export type MutableJobColumns = Pick<Row, 'id' | (typeof mutableColumns)[number]>
/** The caller raises the version. */
export const updateJob = writeAny((db, p: { org: number } & MutableJobColumns) =>
  db.updateTable('jobs').set(pickColumns(p, mutableColumns)).where('org', '=', p.org).where('id', '=', p.id),
)
