// Jobs that begin again on days of the week, at a time of each location. [contract 12.recurring]
import type { MigrationStatements } from './dialect.ts'

export const recurringJobs: MigrationStatements = (dialect) => [
  // user_id and key_id find what the actor may do and see now, as in `jobs`.
  `CREATE TABLE recurring_jobs (
    org integer NOT NULL REFERENCES orgs (key),
    id integer NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    state text NOT NULL CHECK (state IN ('ACTIVE', 'PAUSED')),
    reason text,
    action text NOT NULL,
    target text NOT NULL,
    settings text NOT NULL,
    schedule text NOT NULL,
    within_hours integer NOT NULL,
    unplaced integer NOT NULL CHECK (unplaced IN (0, 1)),
    actor_type text NOT NULL,
    actor_id text NOT NULL,
    actor_name text NOT NULL,
    user_id integer,
    key_id integer,
    created_at ${dialect.bigint} NOT NULL,
    handled_until ${dialect.bigint} NOT NULL,
    PRIMARY KEY (org, id)
)${dialect.strict}`,
  // The locations of the targeted rooms decide who sees a recurring job, and in which time zones it runs.
  `CREATE TABLE recurring_job_locations (
    org integer NOT NULL,
    recurring_job integer NOT NULL,
    location_id integer NOT NULL,
    PRIMARY KEY (org, recurring_job, location_id),
    FOREIGN KEY (org, recurring_job) REFERENCES recurring_jobs (org, id) ON DELETE CASCADE,
    FOREIGN KEY (org, location_id) REFERENCES locations (org, id) ON DELETE CASCADE
)${dialect.strictWithoutRowId}`,
  'CREATE INDEX recurring_job_locations_location ON recurring_job_locations (org, location_id)',
  // A job is deleted before its run.
  `CREATE TABLE recurring_job_runs (
    org integer NOT NULL,
    recurring_job integer NOT NULL,
    at ${dialect.bigint} NOT NULL,
    timezone text NOT NULL,
    job_id integer,
    reason text,
    PRIMARY KEY (org, recurring_job, at, timezone),
    FOREIGN KEY (org, recurring_job) REFERENCES recurring_jobs (org, id) ON DELETE CASCADE
)${dialect.strictWithoutRowId}`,
  'ALTER TABLE jobs ADD COLUMN recurring_job integer',
]
