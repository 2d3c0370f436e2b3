// SQL of the jobs that the engine of incidents reads: those that were stopped, and where they are.

import { isActiveJob } from '../../../../db/queries/active-job.ts'
import { wholeQuery } from '../../../../db/queries/query.ts'

export const listStoppedJobs = wholeQuery((db, p: { org: number }) =>
  db
    .selectFrom('jobs as j')
    .select(['j.id', 'j.name', 'j.state', 'j.reason', 'j.updated_at'])
    .where('j.org', '=', p.org)
    .where(isActiveJob)
    .where('j.state', 'in', ['STOPPED', 'ROLLING_BACK']),
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
