// SQL of the health of units that soak: only those with a connection that changed or an incident are read. [contract 12.states]

import { type SqlBool, sql } from 'kysely'
import { isAnyNumberOf } from '../../../db/queries/any-of.ts'
import { isSwitchedOff, switchesOff } from '../../../db/queries/on-purpose.ts'
import { wholeQuery } from '../../../db/queries/query.ts'
import { connectionTime, endpointState, isAsleep, isHidden, type PresenceTimes } from '../../../nodes/presence-sql.ts'
import type { JobKey } from '../../store.ts'

type ForUnits = JobKey & { units: readonly number[] }

/** The time from which on the unit is watched: a resume begins its soak again. */
const watchedSince = sql<number>`coalesce(u.watched_since, u.began_at)`

/** Ended connections since the unit began, without those that a server or a gateway ended, and without sleep. One span at most began before that and ended after it. */
const disconnects = sql<number>`(select count(*) from connection_spans as s
  where s.org = e.org and s.endpoint = e.number and s.until >= ${watchedSince} and s.why <> 'SERVER_ENDED'
    and coalesce(s.followed_by, 'OFFLINE') = 'OFFLINE'
    and s.since >= coalesce((select max(m.since) from connection_spans as m
      where m.org = e.org and m.endpoint = e.number and m.since <= ${watchedSince}), 0))`

/** Lists the endpoints of soaking units that are not connected, or connected again since their unit began. Devices that sleep are left out. */
export const listChangedConnections = wholeQuery((db, p: ForUnits & PresenceTimes, engine) =>
  db
    .selectFrom('job_units as u')
    .innerJoin('job_endpoints as je', (j) =>
      j.onRef('je.org', '=', 'u.org').onRef('je.job_id', '=', 'u.job_id').onRef('je.unit', '=', 'u.number'),
    )
    .innerJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'je.org').onRef('e.id', '=', 'je.endpoint_id'))
    .leftJoin('nodes as d', 'd.id', 'e.node_id')
    .select(['u.number as unit', 'je.name'])
    .select([endpointState(p).as('state'), connectionTime.as('changed_at'), disconnects.as('disconnects')])
    .where('u.org', '=', p.org)
    .where('u.job_id', '=', p.job)
    .where(isAnyNumberOf(engine, 'u.number', p.units))
    .where('u.state', '=', 'SOAKING')
    .where('je.state', '<>', 'SKIPPED')
    // A device that the job switched off can leave the network.
    .where(
      sql<SqlBool>`not exists (select 1 from operations as o where o.org = je.org and o.id = je.operation_id and ${switchesOff})`,
    )
    .where(sql<SqlBool>`(coalesce(d.state, '') <> 'up' or e.connection_time >= ${watchedSince})`)
    .where(endpointState(p), '<>', 'ASLEEP'),
)

/**
 * Lists the incidents that opened on rooms of soaking units or on endpoints there, or that these joined, since the unit began. The end of
 * a gateway is left out: the job did not cause it, and the soak waits for devices that cannot be seen.
 */
export const listIncidentsOfUnits = wholeQuery((db, p: ForUnits & { since: number }, engine) =>
  db
    .selectFrom('incidents as i')
    .innerJoin('incident_subjects as s', (j) => j.onRef('s.org', '=', 'i.org').onRef('s.incident_id', '=', 'i.id'))
    .innerJoin('job_unit_rooms as ur', (j) => j.onRef('ur.org', '=', 's.org').onRef('ur.room_id', '=', 's.room_id'))
    .innerJoin('job_units as u', (j) =>
      j.onRef('u.org', '=', 'ur.org').onRef('u.job_id', '=', 'ur.job_id').onRef('u.number', '=', 'ur.unit'),
    )
    .select(['u.number as unit', 'i.id', 'i.rule', 'i.severity'])
    .distinct()
    .where('i.org', '=', p.org)
    // An incident that opens or is joined changes at that time, and the index of changes finds it.
    .where('i.updated_at', '>=', p.since)
    .where('ur.job_id', '=', p.job)
    .where(isAnyNumberOf(engine, 'ur.unit', p.units))
    .where('u.state', '=', 'SOAKING')
    .where(sql<SqlBool>`(i.opened_at >= ${watchedSince} or s.since >= ${watchedSince})`)
    .where('i.level', '<>', 'GATEWAY')
    .orderBy('i.id'),
)

/** Lists the incidents of endpoints of soaking units, as above, wherever these endpoints are now. */
export const listIncidentsOfEndpoints = wholeQuery((db, p: ForUnits & { since: number }, engine) =>
  db
    .selectFrom('incidents as i')
    .innerJoin('incident_subjects as s', (j) => j.onRef('s.org', '=', 'i.org').onRef('s.incident_id', '=', 'i.id'))
    .innerJoin('job_endpoints as je', (j) =>
      j.onRef('je.org', '=', 's.org').onRef('je.endpoint_id', '=', 's.subject_id'),
    )
    .innerJoin('job_units as u', (j) =>
      j.onRef('u.org', '=', 'je.org').onRef('u.job_id', '=', 'je.job_id').onRef('u.number', '=', 'je.unit'),
    )
    .select(['u.number as unit', 'i.id', 'i.rule', 'i.severity'])
    .where('i.org', '=', p.org)
    .where('i.updated_at', '>=', p.since)
    .where('s.subject_type', '=', 'endpoint')
    .where('je.job_id', '=', p.job)
    .where(isAnyNumberOf(engine, 'je.unit', p.units))
    .where('u.state', '=', 'SOAKING')
    .where(sql<SqlBool>`(i.opened_at >= ${watchedSince} or s.since >= ${watchedSince})`)
    .where('i.level', '<>', 'GATEWAY')
    .orderBy('i.id'),
)

/** Lists the locations of units with how many of their endpoints are offline. Endpoints that were never connected, are asleep, were switched off or cannot be seen do not count. */
export const listLocationsOfUnits = wholeQuery((db, p: ForUnits & PresenceTimes, engine) =>
  db
    .selectFrom('job_unit_rooms as ur')
    .innerJoin('rooms as own', (j) => j.onRef('own.org', '=', 'ur.org').onRef('own.id', '=', 'ur.room_id'))
    .innerJoin('locations as l', (j) => j.onRef('l.org', '=', 'own.org').onRef('l.id', '=', 'own.location_id'))
    .innerJoin('rooms as r', (j) => j.onRef('r.org', '=', 'l.org').onRef('r.location_id', '=', 'l.id'))
    .innerJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'r.org').onRef('e.room_id', '=', 'r.id'))
    .leftJoin('nodes as d', 'd.id', 'e.node_id')
    .leftJoin('job_endpoints as je', (j) =>
      j
        .onRef('je.org', '=', 'ur.org')
        .onRef('je.job_id', '=', 'ur.job_id')
        .onRef('je.unit', '=', 'ur.unit')
        .onRef('je.endpoint_id', '=', 'e.id'),
    )
    // A unit may have several rooms of a location, and then names each endpoint several times.
    .select(['ur.unit', 'l.id', 'l.name'])
    .select([
      sql<number>`count(distinct e.id)`.as('endpoints'),
      sql<number>`count(distinct case when coalesce(d.state, '') <> 'up' then e.id end)`.as('offline'),
      sql<number>`count(distinct case when coalesce(d.state, '') <> 'up' then je.endpoint_id end)`.as(
        'offline_in_unit',
      ),
    ])
    .where('ur.org', '=', p.org)
    .where('ur.job_id', '=', p.job)
    .where(isAnyNumberOf(engine, 'ur.unit', p.units))
    .where('e.connection_time', 'is not', null)
    .where(sql<SqlBool>`not (coalesce(d.state, '') <> 'up' and (${isHidden(p)} or ${isAsleep} or ${isSwitchedOff}))`)
    .groupBy(['ur.unit', 'l.id', 'l.name'])
    .orderBy('l.id'),
)
