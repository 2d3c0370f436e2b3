// SQL of rollbacks: the units that a job has touched, their rooms and endpoints, and the versions that it made.

import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { EngineName } from '../../../db/engine.ts'
import { isAnyNumberOf, isIn } from '../../../db/queries/any-of.ts'
import { wholeQuery, wholeQueryOne, writeAny, writeTelemetry } from '../../../db/queries/query.ts'
import type { JobEndpointState } from '../../../db/schema/jobs.ts'
import type { JobKey } from '../../store.ts'
import type { UnitRange } from '../../units/unit-count-store.ts'

/** An endpoint with an effect of the job that was not rolled back. One that failed, or is tried again, may have none. */
const isTouched = sql<SqlBool>`(je.state in ('SENT', 'DONE')
  or (je.state in ('FAILED', 'PENDING') and (je.version_after is not null or je.profile_changed = 1)))`

/** For a query of `job_endpoints as je`: 1 for an endpoint that is touched, otherwise 0. */
export const touchedColumn = sql<number>`case when ${isTouched} then 1 else 0 end`

type ForUnit = JobKey & { unit: number }

/**
 * Whether the unit `u` is among those with an endpoint like that. They are listed once: PostgreSQL has no statistics of units that were just
 * inserted, and would go through all endpoints of the job for each unit.
 */
const hasEndpoint = (engine: EngineName, { org, job }: JobKey, endpoints: RawBuilder<unknown>) =>
  isIn(
    engine,
    sql.ref('u.number'),
    sql`select je.unit from job_endpoints as je ${endpoints} and je.org = ${org} and je.job_id = ${job}`,
  )

/** A step that ended in the middle of a unit may have rolled back all of its endpoints, but not the unit. */
const isTouchedUnit = (engine: EngineName, p: JobKey, isOfUnits: RawBuilder<SqlBool>) =>
  sql<SqlBool>`u.state not in ('ROLLED_BACK', 'KEPT') and ${hasEndpoint(
    engine,
    p,
    sql`where ${isOfUnits} and (je.state in ('ROLLED_BACK', 'KEPT') or ${isTouched})`,
  )}`

const isInRange = ({ from, to }: UnitRange) => sql<SqlBool>`je.unit >= ${from} and je.unit <= ${to}`

/** Lists those of a range of units that were touched. */
export const listTouchedNumbers = wholeQuery((db, p: JobKey & UnitRange, engine) =>
  db
    .selectFrom('job_units as u')
    .select('u.number')
    .where('u.org', '=', p.org)
    .where('u.job_id', '=', p.job)
    .where(isTouchedUnit(engine, p, isInRange(p))),
)

/** Lists those of the units that were touched, the last one first. */
export const listTouchedUnits = wholeQuery((db, p: JobKey & { units: readonly number[] }, engine) =>
  db
    .selectFrom('job_units as u')
    .select(['u.number', 'u.state', 'u.reason', 'u.location_id'])
    .where('u.org', '=', p.org)
    .where('u.job_id', '=', p.job)
    .where(isTouchedUnit(engine, p, isAnyNumberOf(engine, 'je.unit', p.units)))
    .orderBy('u.number', 'desc'),
)
export type TouchedUnit = Awaited<ReturnType<typeof listTouchedUnits>>[number]

/** Lists the rooms of units with the change windows of their locations. */
export const listUnitRoomWindows = wholeQuery((db, p: JobKey & { units: readonly number[] }, engine) =>
  db
    .selectFrom('job_unit_rooms as ur')
    .innerJoin('orgs as o', 'o.key', 'ur.org')
    .leftJoin('rooms as r', (j) => j.onRef('r.org', '=', 'ur.org').onRef('r.id', '=', 'ur.room_id'))
    .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
    .select(['ur.unit', 'ur.room_id', 'ur.profile_changed', 'ur.profile_before'])
    .select(['r.profile_id', 'r.name', 'l.change_window'])
    .select((e) => e.fn.coalesce('l.timezone', 'o.timezone').as('timezone'))
    .where('ur.org', '=', p.org)
    .where('ur.job_id', '=', p.job)
    .where(isAnyNumberOf(engine, 'ur.unit', p.units)),
)
export type UnitRoomWindow = Awaited<ReturnType<typeof listUnitRoomWindows>>[number]

/** Some endpoint of the unit was rolled back, is connected, and has not confirmed that. */
const isUnconfirmed = (engine: EngineName, p: JobKey, isOfUnits: RawBuilder<SqlBool>) =>
  hasEndpoint(
    engine,
    p,
    sql`join endpoint_configs as c on c.org = je.org and c.endpoint_id = je.endpoint_id and c.state = 'PENDING'
      join endpoints as e on e.org = je.org and e.id = je.endpoint_id
      join nodes as d on d.id = e.node_id and d.state = 'up'
      where ${isOfUnits} and je.state = 'ROLLED_BACK'`,
  )

/** Lists those of a range of units that were rolled back since a time, and whose connected devices have not confirmed that. */
export const listUnitsInRollback = wholeQuery((db, p: JobKey & UnitRange & { since: number }, engine) =>
  db
    .selectFrom('job_units as u')
    .select('u.number')
    .where('u.org', '=', p.org)
    .where('u.job_id', '=', p.job)
    .where('u.number', '>=', p.from)
    .where('u.number', '<=', p.to)
    .where('u.state', '=', 'ROLLED_BACK')
    .where('u.ended_at', '>', p.since)
    .where(isUnconfirmed(engine, p, isInRange(p))),
)

/** Lists those of the units that were rolled back since a time and are not confirmed, with their locations. */
export const listUnconfirmedUnits = wholeQuery((db, p: JobKey & { units: readonly number[]; since: number }, engine) =>
  db
    .selectFrom('job_units as u')
    .select(['u.number', 'u.location_id'])
    .where('u.org', '=', p.org)
    .where('u.job_id', '=', p.job)
    .where('u.state', '=', 'ROLLED_BACK')
    .where('u.ended_at', '>', p.since)
    .where(isUnconfirmed(engine, p, isAnyNumberOf(engine, 'je.unit', p.units))),
)

export const listUnitEndpoints = wholeQuery((db, p: ForUnit) =>
  db
    .selectFrom('job_endpoints as je')
    .select(['je.endpoint_id', 'je.name', 'je.state', 'je.error'])
    .select(touchedColumn.as('touched'))
    .where('je.org', '=', p.org)
    .where('je.job_id', '=', p.job)
    .where('je.unit', '=', p.unit)
    .orderBy('je.endpoint_id'),
)

/** Lists versions from the one before the first that the job made, after a given one, oldest first. None if the job made none. */
export const listVersionsSinceJob = wholeQuery((db, p: JobKey & { endpoint: string; after: number; limit: number }) =>
  db
    .selectFrom('config_versions as v')
    .select(['v.version', 'v.explicit', 'v.secrets', 'v.profile_id', 'v.profile', 'v.profile_secrets'])
    .select(['v.job_id', 'v.author_name'])
    .where('v.org', '=', p.org)
    .where('v.endpoint_id', '=', p.endpoint)
    .where('v.version', '>', p.after)
    .where(
      sql<SqlBool>`v.version >= (select min(m.version) - 1 from config_versions as m
          where m.org = v.org and m.endpoint_id = v.endpoint_id and m.job_id = ${p.job})`,
    )
    .orderBy('v.version')
    .limit(p.limit),
)

export const listProfileIds = wholeQuery((db, p: { org: number }) =>
  db.selectFrom('profiles').select('id').where('org', '=', p.org),
)

export const findProfileNameOf = wholeQueryOne((db, p: { org: number; id: number }) =>
  db.selectFrom('profiles').select('name').where('org', '=', p.org).where('id', '=', p.id),
)

export const updateEndpointRolledBack = writeAny(
  (db, p: JobKey & { endpoint: string; state: JobEndpointState; error: string | null }) =>
    db
      .updateTable('job_endpoints')
      .set({ state: p.state, error: p.error })
      .where('org', '=', p.org)
      .where('job_id', '=', p.job)
      .where('endpoint_id', '=', p.endpoint),
)

export const updateUnitRoomRestored = writeAny((db, p: ForUnit & { room: number }) =>
  db
    .updateTable('job_unit_rooms')
    .set({ profile_changed: 0 })
    .where('org', '=', p.org)
    .where('job_id', '=', p.job)
    .where('unit', '=', p.unit)
    .where('room_id', '=', p.room),
)

export const updateUnitRolledBack = writeTelemetry(
  (db, p: ForUnit & { state: 'ROLLED_BACK' | 'KEPT'; reason: string | null; at: number }) =>
    db
      .updateTable('job_units')
      .set({ state: p.state, reason: p.reason, ended_at: p.at })
      .where('org', '=', p.org)
      .where('job_id', '=', p.job)
      .where('number', '=', p.unit),
)

/** A unit that failed keeps the reason of that. */
export const updateUnitsWaiting = writeTelemetry(
  (db, p: JobKey & { units: readonly number[]; reason: string }, engine) =>
    db
      .updateTable('job_units')
      .set((e) => ({
        reason: e.fn.coalesce(
          sql<string>`case when state = 'FAILED' then reason end`,
          sql<string>`cast(${p.reason} as text)`,
        ),
      }))
      .where('org', '=', p.org)
      .where('job_id', '=', p.job)
      .where(isAnyNumberOf(engine, 'number', p.units)),
)
