// The condition of the partial index of active jobs.
import { sql } from 'kysely'

/** For a query of `jobs as j`. The states are literals, because SQLite uses the index only then. */
export const isActiveJob = sql<boolean>`j.state in ('SCHEDULED', 'RUNNING', 'PAUSED', 'STOPPED', 'ROLLING_BACK')`
