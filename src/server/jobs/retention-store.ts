// Holds the SQL that deletes old jobs of all organisations, a range of units in each statement.
import { type SqlBool, sql } from 'kysely'
import { systemQuery, systemWrite } from '../db/system.ts'
import type { UnitRange } from './units/unit-count-store.ts'

interface OldJob {
  readonly org: number
  readonly job: number
  readonly before: number
}

const isOld = (before: number) => sql<SqlBool>`((j.ended_at < ${before}
  and j.state in ('SUCCEEDED', 'INCOMPLETE', 'CANCELLED', 'ROLLED_BACK')) or (j.state = 'DRAFT' and j.updated_at < ${before}))`

/** A person may start or retry the job after it was listed. */
const isStillOld = ({ org, job, before }: OldJob) =>
  sql<SqlBool>`exists (select 1 from jobs j where j.org = ${org} and j.id = ${job} and ${isOld(before)})`

/** Lists some jobs that ended, or were left as drafts, before a time. */
export const listOldJobs = systemQuery((db, p: { before: number; limit: number }) =>
  db.selectFrom('jobs as j').select(['j.org', 'j.id as job', 'j.unit_count']).where(isOld(p.before)).limit(p.limit),
)

export const deleteOldEndpoints = systemWrite((db, p: OldJob & UnitRange) =>
  db
    .deleteFrom('job_endpoints')
    .where('org', '=', p.org)
    .where('job_id', '=', p.job)
    .where('unit', '>=', p.from)
    .where('unit', '<=', p.to)
    .where(isStillOld(p)),
)

/** Deletes units together with their rooms. */
export const deleteOldUnits = systemWrite((db, p: OldJob & UnitRange) =>
  db
    .deleteFrom('job_units')
    .where('org', '=', p.org)
    .where('job_id', '=', p.job)
    .where('number', '>=', p.from)
    .where('number', '<=', p.to)
    .where(isStillOld(p)),
)

/** Deletes a job whose units are deleted. */
export const deleteOldJob = systemWrite((db, p: OldJob) =>
  db.deleteFrom('jobs').where('org', '=', p.org).where('id', '=', p.job).where(isStillOld(p)),
)
