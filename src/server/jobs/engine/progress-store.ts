// SQL with which the engine writes the progress of jobs. Each statement names the state that it expects, so that a person's step wins.

import { sql } from 'kysely'
import { writeAny } from '../../db/queries/query.ts'
import type { JobEndpointState, JobSchema } from '../../db/schema/jobs.ts'
import type { JobKey } from '../store.ts'

/** Locks the job on PostgreSQL; SQLite has one writer at a time. */
export const lockJobProgress = writeAny((db, p: JobKey, engine) =>
  db
    .selectFrom('jobs')
    .select('version')
    .where('org', '=', p.org)
    .where('id', '=', p.job)
    .$if(engine === 'postgres', (q) => q.forUpdate()),
)

/** Progress of units is no new version of the job, so that a person's step with If-Match is not refused because of it. */
export const raiseJobProgress = writeAny((db, p: JobKey & { now: number }) =>
  db
    .updateTable('jobs')
    .set((e) => ({ progress: e('progress', '+', 1), updated_at: p.now }))
    .where('org', '=', p.org)
    .where('id', '=', p.job),
)

/** Counts units that joined the job after its start. */
export const updateJobSize = writeAny((db, p: JobKey & { units: number; endpoints: number; now: number }) =>
  db
    .updateTable('jobs')
    .set((e) => ({
      version: e('version', '+', 1),
      unit_count: e('unit_count', '+', p.units),
      endpoint_count: e('endpoint_count', '+', p.endpoints),
      updated_at: p.now,
    }))
    .where('org', '=', p.org)
    .where('id', '=', p.job),
)

type Progress = JobKey & {
  state: JobSchema['jobs']['state']
  reason: string | null
  stage: number
  stageTimes: string
  startedAt: number | null
  endedAt: number | null
  now: number
}
/** Writes what the engine changes in a job. */
export const updateJobProgress = writeAny((db, p: Progress) =>
  db
    .updateTable('jobs')
    .set((e) => ({
      version: e('version', '+', 1),
      state: p.state,
      reason: p.reason,
      stage: p.stage,
      stage_times: p.stageTimes,
      started_at: p.startedAt,
      ended_at: p.endedAt,
      updated_at: p.now,
    }))
    .where('org', '=', p.org)
    .where('id', '=', p.job),
)

type UnitChange = JobKey & {
  number: number
  from: JobSchema['job_units']['state']
  to: JobSchema['job_units']['state']
  reason: string | null
  soakUntil: number | null
  endedAt: number | null
}
/** A unit that waits has not begun, also if it ran before. */
export const updateUnitState = writeAny((db, p: UnitChange) =>
  db
    .updateTable('job_units')
    .set({ state: p.to, reason: p.reason, soak_until: p.soakUntil, ended_at: p.endedAt })
    .set({
      failure: sql<
        string | null
      >`case when cast(${p.to} as text) = 'FAILED' then coalesce(cast(${p.reason} as text), '') else failure end`,
      began_at: sql<number | null>`case when cast(${p.to} as text) = 'WAITING' then null else began_at end`,
      sent_at: sql<number | null>`case when cast(${p.to} as text) = 'WAITING' then null else sent_at end`,
    })
    .where('org', '=', p.org)
    .where('job_id', '=', p.job)
    .where('number', '=', p.number)
    .where('state', '=', p.from),
)

type EndpointStateChange = JobKey & {
  id: string
  from: JobEndpointState
  state: JobEndpointState
  error: string | null
}
export const updateJobEndpointState = writeAny((db, p: EndpointStateChange) =>
  db
    .updateTable('job_endpoints')
    .set({ state: p.state, error: p.error })
    .where('org', '=', p.org)
    .where('job_id', '=', p.job)
    .where('endpoint_id', '=', p.id)
    .where('state', '=', p.from),
)

/** Returns the unit if it may be sent something now: it begins, or it runs already. */
export const beginUnit = writeAny((db, p: JobKey & { number: number; now: number }) =>
  db
    .updateTable('job_units')
    .set((e) => ({
      state: 'RUNNING',
      reason: null,
      began_at: e.fn.coalesce('began_at', sql<number>`cast(${p.now} as bigint)`),
      sent_at: p.now,
    }))
    .where('org', '=', p.org)
    .where('job_id', '=', p.job)
    .where('number', '=', p.number)
    .where('state', 'in', ['PENDING', 'WAITING', 'RUNNING'])
    .returning('number'),
)

/** Returns the endpoint if nothing was sent to it before. A second attempt does not change the note of what the endpoint had before the job. */
export const markEndpointSent = writeAny(
  (
    db,
    p: JobKey & {
      id: string
      versionBefore: number | null
      versionAfter: number | null
      profileBefore: number | null
      profileChanged: number
      operation: string | null
    },
  ) =>
    db
      .updateTable('job_endpoints')
      .set((e) => ({
        state: 'SENT',
        error: null,
        version_before: e.fn.coalesce('version_before', sql<number>`cast(${p.versionBefore} as integer)`),
        version_after: e.fn.coalesce(sql<number>`cast(${p.versionAfter} as integer)`, 'version_after'),
        profile_before: sql<
          number | null
        >`case profile_changed when 1 then profile_before else cast(${p.profileBefore} as integer) end`,
        profile_changed: sql<number>`case profile_changed when 1 then 1 else cast(${p.profileChanged} as integer) end`,
        operation_id: p.operation,
      }))
      .where('org', '=', p.org)
      .where('job_id', '=', p.job)
      .where('endpoint_id', '=', p.id)
      .where('state', '=', 'PENDING')
      .returning('endpoint_id'),
)

/** Notes the profile that a room had before the job, the first time only. */
export const noteRoomProfile = writeAny((db, p: JobKey & { unit: number; room: number; before: number | null }) =>
  db
    .updateTable('job_unit_rooms')
    .set({ profile_changed: 1, profile_before: p.before })
    .where('org', '=', p.org)
    .where('job_id', '=', p.job)
    .where('unit', '=', p.unit)
    .where('room_id', '=', p.room)
    .where('profile_changed', '=', 0),
)
