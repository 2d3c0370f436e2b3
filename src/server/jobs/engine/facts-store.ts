// SQL that the engine of jobs reads: endpoints of units with what became of their effects, and other jobs that touch them.
import { isAnyNumberOf, isAnyOf } from '../../db/queries/any-of.ts'
import { wholeQuery } from '../../db/queries/query.ts'
import { endpointState, isConnected, type PresenceTimes } from '../../nodes/presence-sql.ts'
import type { JobKey } from '../store.ts'
import { touchedColumn } from './rollback/rollback-store.ts'

const unitColumns = [
  'u.number',
  'u.stage',
  'u.state',
  'u.reason',
  'u.location_id',
  'u.began_at',
  'u.watched_since',
  'u.sent_at',
  'u.soak_until',
] as const

type UnitsAfter = JobKey & { after: number; limit: number }

export const listRunningUnits = wholeQuery((db, p: JobKey) =>
  db
    .selectFrom('job_units as u')
    .select(unitColumns)
    .where('u.org', '=', p.org)
    .where('u.job_id', '=', p.job)
    .where('u.state', '=', 'RUNNING')
    .orderBy('u.number'),
)

/** Lists the next units that soak, in their order. */
export const listSoakingUnits = wholeQuery((db, p: UnitsAfter) =>
  db
    .selectFrom('job_units as u')
    .select(unitColumns)
    .where('u.org', '=', p.org)
    .where('u.job_id', '=', p.job)
    .where('u.state', '=', 'SOAKING')
    .where('u.number', '>', p.after)
    .orderBy('u.number')
    .limit(p.limit),
)

/** Lists the next units of the stages up to the present one that have not begun, in their order, without those of some locations. */
export const listWaitingUnits = wholeQuery((db, p: UnitsAfter & { stage: number; notIn: readonly number[] }, engine) =>
  db
    .selectFrom('job_units as u')
    .select(unitColumns)
    .where('u.org', '=', p.org)
    .where('u.job_id', '=', p.job)
    .where('u.state', 'in', ['PENDING', 'WAITING'])
    .where('u.stage', '<=', p.stage)
    .where((e) => e.or([e('u.location_id', 'is', null), e.not(isAnyNumberOf(engine, 'u.location_id', p.notIn))]))
    .where('u.number', '>', p.after)
    .orderBy('u.number')
    .limit(p.limit),
)
export type EngineUnitRow = Awaited<ReturnType<typeof listWaitingUnits>>[number]

/** The endpoints of units as they are now, with the config and the operation that the job made. `serial` is null if the endpoint was deleted. */
export const listEngineEndpoints = wholeQuery((db, p: JobKey & PresenceTimes & { units: readonly number[] }, engine) =>
  db
    .selectFrom('job_endpoints as j')
    .leftJoin('endpoints as e', (on) => on.onRef('e.org', '=', 'j.org').onRef('e.id', '=', 'j.endpoint_id'))
    .leftJoin('nodes as d', 'd.id', 'e.node_id')
    .leftJoin('endpoint_configs as c', (on) => on.onRef('c.org', '=', 'e.org').onRef('c.endpoint_id', '=', 'e.id'))
    .leftJoin('operations as o', (on) => on.onRef('o.org', '=', 'j.org').onRef('o.id', '=', 'j.operation_id'))
    .select(['j.endpoint_id', 'j.unit', 'j.name', 'j.state', 'j.error', 'j.version_before', 'j.version_after'])
    .select(['j.profile_before', 'j.profile_changed', 'j.operation_id'])
    .select(['e.serial', 'e.room_id', isConnected.as('connected'), endpointState(p).as('presence')])
    .select(['c.version as config_version', 'c.state as config_state', 'c.rejected as config_rejected'])
    .select(['o.state as operation_state', 'o.error as operation_error', 'o.waits_for'])
    .select(['o.reboot_time', 'o.sent_connection'])
    .where('j.org', '=', p.org)
    .where('j.job_id', '=', p.job)
    .where(isAnyNumberOf(engine, 'j.unit', p.units))
    .orderBy('j.unit')
    .orderBy('j.endpoint_id'),
)
export type EngineEndpointRow = Awaited<ReturnType<typeof listEngineEndpoints>>[number]

/** Lists those of the endpoints that the given jobs have, with the state of their units. */
export const listEndpointsOfOtherJobs = wholeQuery(
  (db, p: { org: number; jobs: readonly number[]; endpoints: readonly string[] }, engine) =>
    db
      .selectFrom('job_endpoints as je')
      .innerJoin('job_units as u', (on) =>
        on.onRef('u.org', '=', 'je.org').onRef('u.job_id', '=', 'je.job_id').onRef('u.number', '=', 'je.unit'),
      )
      .select(['je.job_id', 'je.endpoint_id', touchedColumn.as('touched')])
      .select(['u.state as unit_state', 'u.reason as unit_reason'])
      .where('je.org', '=', p.org)
      .where(isAnyNumberOf(engine, 'je.job_id', p.jobs))
      .where(isAnyOf(engine, 'je.endpoint_id', p.endpoints)),
)

export type OtherJobEndpoint = Awaited<ReturnType<typeof listEndpointsOfOtherJobs>>[number]
