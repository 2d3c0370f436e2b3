// SQL of the units of jobs, of their rooms and of their endpoints.

import { type Selectable, sql } from 'kysely'
import type { OrgReader } from '../../db/handles.ts'
import { isAnyNumberOf, isAnyOf, isIn } from '../../db/queries/any-of.ts'
import { visibleQuery, wholeQuery, wholeQueryExists } from '../../db/queries/query.ts'
import { queryVariants } from '../../db/queries/variants.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import type { JobKey } from '../store.ts'
import type { UnitRange } from './unit-count-store.ts'

type UnitState = Selectable<DatabaseSchema['job_units']>['state']
type UnitsOfJob = JobKey & { units: readonly number[] }

const unitColumns = [
  'u.job_id',
  'u.number',
  'u.stage',
  'u.state',
  'u.reason',
  'u.failure',
  'u.name',
  'u.location_id',
  'u.endpoint_count',
  'u.attempt',
  'u.began_at',
  'u.sent_at',
  'u.soak_until',
  'u.watched_since',
  'u.ended_at',
] as const

interface UnitPage extends JobKey {
  readonly states: readonly UnitState[]
  /** Units of the stages from `firstStage` to `lastStage`. */
  readonly firstStage: number
  readonly lastStage: number
  readonly after: number
  readonly limit: number
}
export type UnitFilter = 'room' | 'failed' | 'notFailed'
const unitFilters: readonly UnitFilter[] = ['room', 'failed', 'notFailed']

const listWith = queryVariants(unitFilters, (given) =>
  visibleQuery('jobUnit', 'u.number', (db, p: UnitPage & { room: number }, engine) =>
    db
      .selectFrom('job_units as u')
      .select(unitColumns)
      .where('u.org', '=', p.org)
      .where('u.job_id', '=', p.job)
      .where('u.number', '>', p.after)
      .where(isAnyOf(engine, 'u.state', p.states))
      .where('u.stage', '>=', p.firstStage)
      .where('u.stage', '<=', p.lastStage)
      .$if(given.has('failed'), (q) => q.where('u.failure', 'is not', null))
      .$if(given.has('notFailed'), (q) => q.where('u.failure', 'is', null))
      .$if(given.has('room'), (q) =>
        q.where('u.number', 'in', (one) =>
          one
            .selectFrom('job_unit_rooms as m')
            .select('m.unit')
            .where('m.org', '=', p.org)
            .where('m.job_id', '=', p.job)
            .where('m.room_id', '=', p.room),
        ),
      )
      .orderBy('u.number')
      .limit(p.limit),
  ),
)

/** Lists units that the caller sees, in their order. */
export const listVisibleUnits = (
  on: OrgReader,
  page: Omit<UnitPage, 'org'> & { readonly room?: number | undefined },
  filters: readonly UnitFilter[] = [],
) => {
  const { room = 0, ...values } = page
  const given = page.room === undefined ? filters : (['room', ...filters] as const)
  return listWith(given)(on, { ...values, room })
}

export const listRoomsOfUnits = wholeQuery((db, p: UnitsOfJob, engine) =>
  db
    .selectFrom('job_unit_rooms as r')
    .select(['r.job_id', 'r.unit', 'r.room_id', 'r.profile_changed', 'r.profile_before'])
    .where('r.org', '=', p.org)
    .where('r.job_id', '=', p.job)
    .where(isAnyNumberOf(engine, 'r.unit', p.units))
    .orderBy('r.unit')
    .orderBy('r.room_id'),
)

export const listEndpointsOfUnits = wholeQuery((db, p: UnitsOfJob, engine) =>
  db
    .selectFrom('job_endpoints as e')
    .select(['e.job_id', 'e.endpoint_id', 'e.unit', 'e.name', 'e.state', 'e.error', 'e.version_before'])
    .select(['e.version_after', 'e.profile_before', 'e.profile_changed', 'e.operation_id'])
    .where('e.org', '=', p.org)
    .where('e.job_id', '=', p.job)
    .where(isAnyNumberOf(engine, 'e.unit', p.units))
    .orderBy('e.unit')
    .orderBy('e.endpoint_id'),
)

/** Lists those of the endpoints that a job has. */
export const listEndpointsInJob = wholeQuery((db, p: JobKey & { endpoints: readonly string[] }, engine) =>
  db
    .selectFrom('job_endpoints as j')
    .select('j.endpoint_id')
    .where('j.org', '=', p.org)
    .where('j.job_id', '=', p.job)
    .where(isAnyOf(engine, 'j.endpoint_id', p.endpoints)),
)

/** The groups of reboots that a job has asked for and that wait. One that a person had asked for before is not among them. */
export const listWaitingGroups = wholeQuery((db, p: JobKey) =>
  db
    .selectFrom('job_endpoints as e')
    .innerJoin('operations as o', (j) => j.onRef('o.org', '=', 'e.org').onRef('o.id', '=', 'e.operation_id'))
    .innerJoin('job_units as u', (j) =>
      j.onRef('u.org', '=', 'e.org').onRef('u.job_id', '=', 'e.job_id').onRef('u.number', '=', 'e.unit'),
    )
    .select('o.group_id')
    .distinct()
    .where('e.org', '=', p.org)
    .where('e.job_id', '=', p.job)
    .where('e.state', '=', 'SENT')
    .where('o.state', '=', 'QUEUED')
    .where('o.group_id', 'is not', null)
    .whereRef('o.created_at', '>=', 'u.sent_at'),
)

/**
 * The endpoints of units that run, with their reboots. `own` is 0 for a reboot that a person had asked for before: the job shares it.
 */
export const listSentReboots = wholeQuery((db, p: JobKey) =>
  db
    .selectFrom('job_units as u')
    .innerJoin('job_endpoints as e', (j) =>
      j.onRef('e.org', '=', 'u.org').onRef('e.job_id', '=', 'u.job_id').onRef('e.unit', '=', 'u.number'),
    )
    .innerJoin('operations as o', (j) => j.onRef('o.org', '=', 'e.org').onRef('o.id', '=', 'e.operation_id'))
    .select(['u.number as unit', 'e.endpoint_id', 'o.group_id', 'o.waits_for'])
    .select(sql<number>`case when o.created_at >= u.sent_at then 1 else 0 end`.as('own'))
    .where('u.org', '=', p.org)
    .where('u.job_id', '=', p.job)
    .where('u.state', '=', 'RUNNING')
    .where('e.state', '=', 'SENT')
    // Nothing is taken back of a room that has begun to restart.
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('job_endpoints as f')
            .select('f.endpoint_id')
            .whereRef('f.org', '=', 'u.org')
            .whereRef('f.job_id', '=', 'u.job_id')
            .whereRef('f.unit', '=', 'u.number')
            .where('f.state', 'in', ['DONE', 'FAILED']),
        ),
      ),
    )
    .orderBy('u.number')
    .orderBy('e.endpoint_id'),
)

/** The locations of the rooms of some units. PostgreSQL gets the rooms as arrays, because it has no statistics of units that were just inserted. */
export const listRangeLocations = wholeQuery((db, p: JobKey & UnitRange, engine) => {
  const ofUnits = sql`select m.room_id from job_unit_rooms as m where m.org = ${p.org} and m.job_id = ${p.job}
    and m.unit >= ${p.from} and m.unit <= ${p.to}`
  const ofRooms = sql`select r.location_id from rooms as r where r.org = ${p.org} and ${isIn(engine, sql.ref('r.id'), ofUnits)}`
  return db
    .selectFrom('locations as l')
    .select(['l.id as location', 'l.region_id as region'])
    .where('l.org', '=', p.org)
    .where(isIn(engine, sql.ref('l.id'), ofRooms))
})

export const hasUnplacedUnit = wholeQueryExists((db, p: JobKey) =>
  db
    .selectFrom('job_units as u')
    .select('u.number')
    .where('u.org', '=', p.org)
    .where('u.job_id', '=', p.job)
    .where('u.location_id', 'is', null)
    .limit(1),
)
