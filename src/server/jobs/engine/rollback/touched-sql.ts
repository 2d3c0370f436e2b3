// The SQL that says which endpoints a rollback has to restore. [contract 12.rollback]
import { type SqlBool, sql } from 'kysely'

/** An endpoint with an effect of the job that was not rolled back. One that failed, or is tried again, may have none. */
export const isTouched = sql<SqlBool>`(je.state in ('SENT', 'DONE')
  or (je.state in ('FAILED', 'PENDING') and (je.version_after is not null or je.profile_changed = 1)))`

/** For a query of `job_endpoints as je`: 1 for an endpoint that is touched, otherwise 0. */
export const touchedColumn = sql<number>`case when ${isTouched} then 1 else 0 end`
