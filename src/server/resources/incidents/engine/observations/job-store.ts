// SQL of the jobs that the engine of incidents reads: those that were stopped, and where they are.

import { type Kysely, sql } from 'kysely'
import { isActiveJob } from '../../../../db/queries/active-job.ts'
import { wholeQuery } from '../../../../db/queries/query.ts'
import type { DatabaseSchema } from '../../../../db/schema/schema.ts'

const selectJobs = (db: Kysely<DatabaseSchema>, org: number) =>
  db.selectFrom('jobs as j').select(['j.id', 'j.name', 'j.state', 'j.reason', 'j.updated_at']).where('j.org', '=', org)

interface EndedJobs {
  readonly endedAfter: number
  readonly slackMs: number
}

/**
 * Selects the jobs that were stopped and rolled back by themselves, and have no incident of that. A small job takes two seconds for it, and
 * this task may move to another node then. An incident of an earlier stop had ended before the job did.
 */
const selectUnseenStops = (db: Kysely<DatabaseSchema>, org: number, { endedAfter, slackMs }: EndedJobs) =>
  selectJobs(db, org)
    .where('j.ended_at', '>', endedAfter)
    .where('j.state', '=', 'ROLLED_BACK')
    .where('j.reason', 'is not', null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('incidents as i')
            .select('i.id')
            .where('i.org', '=', org)
            .where('i.rule', '=', 'job.stopped')
            .where('i.level', '=', 'JOB')
            .where('i.cause_id', '=', sql<string>`cast(j.id as text)`)
            .where(
              sql<boolean>`(i.cause_ended_at is null or i.cause_ended_at >= j.ended_at - cast(${slackMs} as bigint))`,
            ),
        ),
      ),
    )

/** Lists jobs that are stopped or rolled back. One that is ROLLED_BACK already was stopped when nothing looked. */
export const listStoppedJobs = wholeQuery((db, p: { org: number } & EndedJobs) =>
  selectJobs(db, p.org)
    .where(isActiveJob)
    .where('j.state', 'in', ['STOPPED', 'ROLLING_BACK'])
    .unionAll(selectUnseenStops(db, p.org, p)),
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
