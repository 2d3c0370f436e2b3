// SQL that counts units of jobs, a range of them at a time.

import { type Kysely, type Selectable, sql } from 'kysely'
import type { EngineName } from '../../db/engine.ts'
import { isAnyNumberOf } from '../../db/queries/any-of.ts'
import { visibleQuery, wholeQuery } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import type { JobKey } from '../store.ts'

/** The numbers of the first and the last unit of a statement. */
export interface UnitRange {
  readonly from: number
  readonly to: number
}

export interface UnitCount {
  readonly job_id: number
  readonly stage: number
  readonly state: Selectable<DatabaseSchema['job_units']>['state']
  /** The reason why the units wait; null in the other states. */
  readonly reason: string | null
  readonly count: number
  readonly endpoints: number
  /** How many of them have begun, whatever became of them. */
  readonly begun: number
  /** How many of them have failed, including those that were rolled back since. */
  readonly failed: number
}

const countAll = sql<number>`cast(count(*) as integer)`
const sumEndpoints = sql<number>`cast(sum(u.endpoint_count) as integer)`
const sumBegun = sql<number>`cast(sum(case when u.began_at is null then 0 else 1 end) as integer)`
const sumFailed = sql<number>`cast(sum(case when u.failure is null then 0 else 1 end) as integer)`
/** The reason counts only while a unit waits: others have a reason of their own. */
const waitReason = sql<string | null>`case u.state when 'WAITING' then u.reason end`

type Counted = UnitRange & { org: number; jobs: readonly number[] }

const selectCounts = (db: Kysely<DatabaseSchema>, p: Counted, engine: EngineName) =>
  db
    .selectFrom('job_units as u')
    .select(['u.job_id', 'u.stage', 'u.state', waitReason.as('reason'), countAll.as('count')])
    .select([sumEndpoints.as('endpoints'), sumBegun.as('begun'), sumFailed.as('failed')])
    .where('u.org', '=', p.org)
    .where(isAnyNumberOf(engine, 'u.job_id', p.jobs))
    .where('u.number', '>=', p.from)
    .where('u.number', '<=', p.to)
    .groupBy(['u.job_id', 'u.stage', 'u.state', waitReason])

/** Counts units that the caller sees. */
export const countVisibleRange = visibleQuery('jobUnit', 'u.number', selectCounts)

/** Counts units for the service itself. */
export const countRange = wholeQuery(selectCounts)

/** Counts the units of a job whose existing rooms the caller sees. */
export const countSteerableRange = visibleQuery('steerableUnit', 'u.number', (db, p: JobKey & UnitRange) =>
  db
    .selectFrom('job_units as u')
    .select(countAll.as('count'))
    .where('u.org', '=', p.org)
    .where('u.job_id', '=', p.job)
    .where('u.number', '>=', p.from)
    .where('u.number', '<=', p.to),
)
