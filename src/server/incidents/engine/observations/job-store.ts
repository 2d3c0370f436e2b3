// SQL of the jobs that the engine of incidents reads: those that were stopped, and where they are.

import type { Kysely } from 'kysely'
import { isActiveJob } from '../../../db/queries/active-job.ts'
import { wholeQuery, wholeQueryExists } from '../../../db/queries/query.ts'
import type { DatabaseSchema } from '../../../db/schema/schema.ts'

const selectJobs = (db: Kysely<DatabaseSchema>, org: number) =>
  db
    .selectFrom('jobs as j')
    .select(['j.id', 'j.name', 'j.state', 'j.reason', 'j.updated_at', 'j.ended_at'])
    .where('j.org', '=', org)

/**
 * Lists jobs that are stopped or rolled back, and those that were stopped, were rolled back by themselves and have just ended. A small job
 * takes two seconds for all of that, and this task can move to another node then.
 */
export const listStoppedJobs = wholeQuery((db, p: { org: number; endedAfter: number }) =>
  selectJobs(db, p.org)
    .where(isActiveJob)
    .where('j.state', 'in', ['STOPPED', 'ROLLING_BACK'])
    .unionAll(
      selectJobs(db, p.org)
        .where('j.ended_at', '>', p.endedAfter)
        .where('j.state', '=', 'ROLLED_BACK')
        .where('j.reason', 'is not', null),
    ),
)

/** Whether a job has an incident that lasts, or that ended after a time. */
export const hasJobIncident = wholeQueryExists((db, p: { org: number; job: string; endedAfter: number }) =>
  db
    .selectFrom('incidents as i')
    .select('i.id')
    .where('i.org', '=', p.org)
    .where('i.rule', '=', 'job.stopped')
    .where('i.level', '=', 'JOB')
    .where('i.cause_id', '=', p.job)
    .where((e) => e.or([e('i.cause_ended_at', 'is', null), e('i.cause_ended_at', '>', p.endedAfter)])),
)

/** Lists the locations of the rooms of a job. Two rows are enough to know that it is in several. */
export const listPlacesOfJob = wholeQuery((db, p: { org: number; job: number }) =>
  db
    .selectFrom('job_unit_rooms as ur')
    .leftJoin('rooms as r', (j) => j.onRef('r.org', '=', 'ur.org').onRef('r.id', '=', 'ur.room_id'))
    .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
    .select(['r.location_id', 'l.region_id'])
    .distinct()
    .where('ur.org', '=', p.org)
    .where('ur.job_id', '=', p.job),
)
