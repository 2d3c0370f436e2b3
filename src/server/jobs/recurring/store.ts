// SQL of recurring jobs, of their locations and of their runs.

import type { Selectable } from 'kysely'
import { pickColumns } from '../../db/queries/columns.ts'
import {
  query,
  visibleQuery,
  visibleQueryOne,
  wholeQuery,
  wholeQueryExists,
  wholeQueryOne,
  write,
  writeAny,
  writeOne,
  writeTelemetry,
} from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'

export type RecurringJobRow = Omit<Selectable<DatabaseSchema['recurring_jobs']>, 'org'>
export type RunRow = Omit<Selectable<DatabaseSchema['recurring_job_runs']>, 'org'>
type Key = { org: number; id: number }

/** The columns that are written once. */
const fixedColumns = ['id', 'created_at'] as const
const mutableColumns = [
  'version',
  'name',
  'state',
  'reason',
  'action',
  'target',
  'settings',
  'schedule',
  'within_hours',
  'unplaced',
  'actor_type',
  'actor_id',
  'actor_name',
  'user_id',
  'key_id',
  'handled_until',
] as const
const columns = ([...fixedColumns, ...mutableColumns] as const).map((column) => `q.${column}` as const)

/** A caller sees a recurring job if one of its locations is visible. [contract 12.recurring] */
export const listRecurringJobs = visibleQuery('recurringJob', 'q.id', (db, p: { org: number }) =>
  db.selectFrom('recurring_jobs as q').select(columns).where('q.org', '=', p.org).orderBy('q.id'),
)

export const findRecurringJob = visibleQueryOne('recurringJob', 'q.id', (db, p: Key) =>
  db.selectFrom('recurring_jobs as q').select(columns).where('q.org', '=', p.org).where('q.id', '=', p.id),
)

/** Lists those whose runs begin. */
export const listActiveRecurringJobs = wholeQuery((db, p: { org: number }) =>
  db
    .selectFrom('recurring_jobs as q')
    .select(columns)
    .where('q.org', '=', p.org)
    .where('q.state', '=', 'ACTIVE')
    .orderBy('q.id'),
)

/** On PostgreSQL the lock makes people and the task take turns. SQLite has one writer at a time anyway. */
export const lockRecurringJob = writeOne((db, p: Key, engine) =>
  db
    .selectFrom('recurring_jobs as q')
    .select(columns)
    .where('q.org', '=', p.org)
    .where('q.id', '=', p.id)
    .$if(engine === 'postgres', (q) => q.forUpdate()),
)

export const countRecurringJobs = wholeQueryOne((db, p: { org: number }) =>
  db
    .selectFrom('recurring_jobs as q')
    .select((e) => e.fn.countAll().as('count'))
    .where('q.org', '=', p.org),
)

export const insertRecurringJob = write((db, p: { org: number } & RecurringJobRow) =>
  db.insertInto('recurring_jobs').values({ org: p.org, ...pickColumns(p, [...fixedColumns, ...mutableColumns]) }),
)

/** The caller raises the version. */
export const updateRecurringJob = write(
  (db, p: { org: number } & Pick<RecurringJobRow, 'id' | (typeof mutableColumns)[number]>) =>
    db
      .updateTable('recurring_jobs')
      .set(pickColumns(p, mutableColumns))
      .where('org', '=', p.org)
      .where('id', '=', p.id),
)

/** Deletes a recurring job with its locations and runs. The jobs of the runs stay. */
export const deleteRecurringJob = write((db, p: Key) =>
  db.deleteFrom('recurring_jobs').where('org', '=', p.org).where('id', '=', p.id),
)

/** A person may have changed the schedule meanwhile, and then its runs are others. */
export const updateHandledUntil = writeTelemetry((db, p: Key & { version: number; until: number }) =>
  db
    .updateTable('recurring_jobs')
    .set({ handled_until: p.until })
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where('version', '=', p.version),
)

export const updateUnplaced = writeTelemetry((db, p: Key & { version: number; unplaced: number }) =>
  db
    .updateTable('recurring_jobs')
    .set({ unplaced: p.unplaced })
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where('version', '=', p.version),
)

/** Lists all locations with their regions, whichever the caller sees. */
export const listLocationsOfRecurringJob = wholeQuery((db, p: Key) =>
  db
    .selectFrom('recurring_job_locations as o')
    .innerJoin('locations as l', (j) => j.onRef('l.org', '=', 'o.org').onRef('l.id', '=', 'o.location_id'))
    .select(['o.location_id as location', 'l.region_id as region'])
    .where('o.org', '=', p.org)
    .where('o.recurring_job', '=', p.id)
    .orderBy('o.location_id'),
)

/** A location may have been deleted since it was found. */
export const insertRecurringJobLocation = writeAny((db, p: Key & { location: number }) =>
  db
    .insertInto('recurring_job_locations')
    .columns(['org', 'recurring_job', 'location_id'])
    .expression((e) =>
      e
        .selectFrom('locations as l')
        .innerJoin('recurring_jobs as q', 'q.org', 'l.org')
        .select(['l.org', 'q.id', 'l.id'])
        .where('l.org', '=', p.org)
        .where('l.id', '=', p.location)
        .where('q.id', '=', p.id),
    )
    .onConflict((c) => c.doNothing()),
)

export const deleteRecurringJobLocation = writeAny((db, p: Key & { location: number }) =>
  db
    .deleteFrom('recurring_job_locations')
    .where('org', '=', p.org)
    .where('recurring_job', '=', p.id)
    .where('location_id', '=', p.location),
)

/** The time zones of visible locations; null stands for the organisation's. */
export const listZonesOfRecurringJobs = visibleQuery('location', 'o.location_id', (db, p: { org: number }) =>
  db
    .selectFrom('recurring_job_locations as o')
    .innerJoin('locations as l', (j) => j.onRef('l.org', '=', 'o.org').onRef('l.id', '=', 'o.location_id'))
    .select(['o.recurring_job as id', 'l.timezone'])
    .distinct()
    .where('o.org', '=', p.org),
)

export const listTimeZone = query((db, p: { org: number }) =>
  db.selectFrom('orgs as g').select('g.timezone').where('g.key', '=', p.org),
)

const runColumns = ['n.recurring_job', 'n.at', 'n.timezone', 'n.job_id', 'n.reason'] as const

/** Lists the last runs, the newest first, including those that were skipped. */
export const listRuns = wholeQuery((db, p: Key & { limit: number }) =>
  db
    .selectFrom('recurring_job_runs as n')
    .select(runColumns)
    .where('n.org', '=', p.org)
    .where('n.recurring_job', '=', p.id)
    .orderBy('n.at', 'desc')
    .orderBy('n.timezone')
    .limit(p.limit),
)

/** Lists the last runs whose jobs the caller sees. */
export const listVisibleRuns = visibleQuery('job', 'n.job_id', (db, p: Key & { limit: number }) =>
  db
    .selectFrom('recurring_job_runs as n')
    .select(runColumns)
    .where('n.org', '=', p.org)
    .where('n.recurring_job', '=', p.id)
    .orderBy('n.at', 'desc')
    .orderBy('n.timezone')
    .limit(p.limit),
)

type RunKey = Key & { at: number; timezone: string }

export const hasRun = wholeQueryExists((db, p: RunKey) =>
  db
    .selectFrom('recurring_job_runs as n')
    .select('n.at')
    .where('n.org', '=', p.org)
    .where('n.recurring_job', '=', p.id)
    .where('n.at', '=', p.at)
    .where('n.timezone', '=', p.timezone),
)

/** Finds a job of an earlier run in the same time zone that has not ended. */
export const findOpenRun = wholeQueryOne((db, p: Key & { timezone: string }) =>
  db
    .selectFrom('recurring_job_runs as n')
    .innerJoin('jobs as j', (j) => j.onRef('j.org', '=', 'n.org').onRef('j.id', '=', 'n.job_id'))
    .select('j.id')
    .where('n.org', '=', p.org)
    .where('n.recurring_job', '=', p.id)
    .where('n.timezone', '=', p.timezone)
    .where('j.state', 'in', ['SCHEDULED', 'RUNNING', 'PAUSED', 'STOPPED', 'ROLLING_BACK'])
    .orderBy('n.at', 'desc')
    .limit(1),
)

/** Inserts a run unless it is there already. */
export const insertRun = writeAny((db, p: { org: number } & RunRow) =>
  db
    .insertInto('recurring_job_runs')
    .values({ org: p.org, ...pickColumns(p, ['recurring_job', 'at', 'timezone', 'job_id', 'reason']) })
    .onConflict((c) => c.doNothing())
    .returning('at'),
)

export const deleteRunsBefore = writeTelemetry((db, p: Key & { before: number }) =>
  db
    .deleteFrom('recurring_job_runs')
    .where('org', '=', p.org)
    .where('recurring_job', '=', p.id)
    .where('at', '<', p.before),
)
