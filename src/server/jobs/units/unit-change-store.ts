// SQL that changes units of a job, a range of them in each statement.

import { isAnyNumberOf, isAnyOf } from '../../db/queries/any-of.ts'
import { write, writeAny } from '../../db/queries/query.ts'
import type { JobEndpointState, JobSchema } from '../../db/schema/jobs.ts'
import type { JobKey } from '../store.ts'
import type { UnitRange } from './unit-count-store.ts'

type UnitState = JobSchema['job_units']['state']
type Range = JobKey & UnitRange

// A statement names the numbers of its units. With a list of them PostgreSQL, which has no statistics of units that were just inserted, would
// compare all units of the job with the list.

export type UnitsEnd = { states: readonly UnitState[]; state: UnitState; reason: string | null; now: number }

/** Ends units that are in one of the states. */
export const endRange = writeAny((db, p: Range & UnitsEnd, engine) =>
  db
    .updateTable('job_units')
    .set({ state: p.state, reason: p.reason, soak_until: null, ended_at: p.now })
    .where('org', '=', p.org)
    .where('job_id', '=', p.job)
    .where('number', '>=', p.from)
    .where('number', '<=', p.to)
    .where(isAnyOf(engine, 'state', p.states))
    .returning('number'),
)

/** Lets the soak of units begin again. */
export const restartRange = write((db, p: Range & { now: number; soakUntil: number }) =>
  db
    .updateTable('job_units')
    .set({ watched_since: p.now, soak_until: p.soakUntil })
    .where('org', '=', p.org)
    .where('job_id', '=', p.job)
    .where('number', '>=', p.from)
    .where('number', '<=', p.to)
    .where('state', '=', 'SOAKING')
    .returning('number'),
)

/** Lets units begin again that failed or expired, and returns them. */
export const resetRange = write((db, p: Range & { attempt: number }) =>
  db
    .updateTable('job_units')
    .set({ state: 'PENDING', reason: null, failure: null, attempt: p.attempt })
    .set({ began_at: null, sent_at: null, soak_until: null, watched_since: null, ended_at: null })
    .where('org', '=', p.org)
    .where('job_id', '=', p.job)
    .where('number', '>=', p.from)
    .where('number', '<=', p.to)
    .where('state', 'in', ['FAILED', 'EXPIRED'])
    .returning('number'),
)

/** Lets the endpoints of units begin again. The note of what they had before the job stays, because a rollback gives that back. */
export const resetEndpoints = write(
  (db, p: Range & { units: readonly number[]; states: readonly JobEndpointState[] }, engine) =>
    db
      .updateTable('job_endpoints')
      .set({ state: 'PENDING', error: null, operation_id: null })
      .where('org', '=', p.org)
      .where('job_id', '=', p.job)
      .where('unit', '>=', p.from)
      .where('unit', '<=', p.to)
      .where(isAnyNumberOf(engine, 'unit', p.units))
      .where(isAnyOf(engine, 'state', p.states))
      .returning('unit'),
)

export const deleteEndpointRange = write((db, p: Range) =>
  db
    .deleteFrom('job_endpoints')
    .where('org', '=', p.org)
    .where('job_id', '=', p.job)
    .where('unit', '>=', p.from)
    .where('unit', '<=', p.to)
    .returning('unit'),
)

/** Deletes units together with their rooms. */
export const deleteUnitRange = write((db, p: Range) =>
  db
    .deleteFrom('job_units')
    .where('org', '=', p.org)
    .where('job_id', '=', p.job)
    .where('number', '>=', p.from)
    .where('number', '<=', p.to)
    .returning('number'),
)
