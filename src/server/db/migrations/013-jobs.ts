// Jobs: tags of rooms, change windows, reboots that wait, versions of profiles, and jobs with their units and endpoints.
import type { MigrationStatements } from './dialect.ts'

/**
 * Statistics for SQLite's planner, as in the migration `growth`, for jobs of 10,000 units. Without them it looks for the endpoints of a unit
 * among all endpoints of the job. The primary key of a table without row ids has the name of the table.
 */
const indexStatistics: readonly (readonly [table: string, index: string, rows: string])[] = [
  ['job_units', 'job_units', '500000 500000 10000 1'],
  ['job_units', 'job_units_state', '500000 500000 100000 2000 1'],
  ['job_units', 'job_units_location', '500000 500000 5000 100'],
  ['job_unit_rooms', 'job_unit_rooms', '500000 500000 10000 1 1'],
  ['job_unit_rooms', 'job_unit_rooms_room', '500000 500000 50 1'],
  ['job_endpoints', 'job_endpoints', '1000000 1000000 20000 1'],
  ['job_endpoints', 'job_endpoints_unit', '1000000 1000000 20000 2'],
]
const storeIndexStatistics = [
  `INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ${indexStatistics.map((row) => `('${row.join("', '")}')`).join(', ')}`,
  // SQLite reads the statistics at this statement.
  'ANALYZE sqlite_schema',
]

export const jobs: MigrationStatements = (dialect) => [
  `ALTER TABLE rooms ADD COLUMN tags text NOT NULL DEFAULT '[]'`,
  'ALTER TABLE locations ADD COLUMN change_window text',
  // When the device last reported that a call had ended.
  `ALTER TABLE endpoints ADD COLUMN call_ended_at ${dialect.bigint}`,
  // The number of the connection over which its last status came.
  `ALTER TABLE endpoints ADD COLUMN status_connection ${dialect.bigint}`,
  // A reboot that waits has one of these, and what it waits for. Each attempt to send it is an operation of its own, which names it and has its time.
  `ALTER TABLE operations ADD COLUMN reboot_time text CHECK (reboot_time IN ('idle', 'window'))`,
  `ALTER TABLE operations ADD COLUMN waits_for text CHECK (waits_for IN ('idle', 'window', 'connection'))`,
  // The operations of one request about a pair group have the id of the first of them.
  'ALTER TABLE operations ADD COLUMN group_id text',
  'ALTER TABLE operations ADD COLUMN attempt_of text',
  `CREATE INDEX operations_deferred ON operations (org, group_id) WHERE reboot_time IS NOT NULL AND attempt_of IS NULL AND state = 'QUEUED'`,
  'CREATE INDEX operations_groups ON operations (org, group_id) WHERE group_id IS NOT NULL',
  'CREATE INDEX operations_attempts ON operations (org, attempt_of) WHERE attempt_of IS NOT NULL',
  // The job that made a version, or that the last writer of a key is compared with at a rollback.
  'ALTER TABLE config_versions ADD COLUMN job_id integer',
  // When the conditions whose beginning no table has were last looked at. A time in which no node looked does not count for them.
  `ALTER TABLE incident_progress ADD COLUMN looked_at ${dialect.bigint}`,
  // Attempts are counted by minute; a person may resolve their incident within that minute.
  `ALTER TABLE credential_attempts ADD COLUMN last_at ${dialect.bigint} NOT NULL DEFAULT 0`,
  // The assignee of an entry, whose name is shown to readers who see that user.
  'ALTER TABLE incident_timeline ADD COLUMN user_id integer',
  // Finds the connections of one organisation that ended within a time.
  'CREATE INDEX connection_spans_org ON connection_spans (org, until)',
  `CREATE INDEX endpoint_configs_failed ON endpoint_configs (org, endpoint_id) WHERE state = 'FAILED'`,
  `CREATE TABLE profile_versions (
    org integer NOT NULL,
    profile_id integer NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    description text,
    config text NOT NULL,
    secrets text NOT NULL,
    author_type text NOT NULL,
    author_id text NOT NULL,
    author_name text NOT NULL,
    created_at ${dialect.bigint} NOT NULL,
    PRIMARY KEY (org, profile_id, version),
    FOREIGN KEY (org, profile_id) REFERENCES profiles (org, id) ON DELETE CASCADE
)${dialect.strictWithoutRowId}`,
  // Effects have the actor of the job; user_id and key_id find what the actor may do and see now.
  `CREATE TABLE jobs (
    org integer NOT NULL REFERENCES orgs (key),
    id integer NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    state text NOT NULL,
    reason text,
    action text NOT NULL,
    secrets text NOT NULL DEFAULT '{}',
    target text NOT NULL,
    settings text NOT NULL,
    actor_type text NOT NULL,
    actor_id text NOT NULL,
    actor_name text NOT NULL,
    user_id integer,
    key_id integer,
    attempt integer NOT NULL DEFAULT 1,
    stage integer NOT NULL DEFAULT 0,
    stage_times text NOT NULL DEFAULT '[]',
    stage_count integer NOT NULL,
    unit_count integer NOT NULL,
    endpoint_count integer NOT NULL,
    begun_before integer NOT NULL DEFAULT 0,
    failed_before integer NOT NULL DEFAULT 0,
    rolls_back_now integer NOT NULL DEFAULT 0,
    progress integer NOT NULL DEFAULT 0,
    created_at ${dialect.bigint} NOT NULL,
    updated_at ${dialect.bigint} NOT NULL,
    start_at ${dialect.bigint},
    started_at ${dialect.bigint},
    ended_at ${dialect.bigint},
    deadline ${dialect.bigint},
    PRIMARY KEY (org, id)
)${dialect.strictWithoutRowId}`,
  `CREATE INDEX jobs_active ON jobs (org, id) WHERE state IN ('SCHEDULED', 'RUNNING', 'PAUSED', 'STOPPED', 'ROLLING_BACK')`,
  'CREATE INDEX jobs_ended ON jobs (ended_at)',
  `CREATE TABLE job_units (
    org integer NOT NULL,
    job_id integer NOT NULL,
    number integer NOT NULL,
    stage integer NOT NULL,
    state text NOT NULL,
    reason text,
    name text NOT NULL,
    location_id integer,
    endpoint_count integer NOT NULL,
    attempt integer NOT NULL DEFAULT 1,
    began_at ${dialect.bigint},
    sent_at ${dialect.bigint},
    soak_until ${dialect.bigint},
    watched_since ${dialect.bigint},
    ended_at ${dialect.bigint},
    PRIMARY KEY (org, job_id, number),
    FOREIGN KEY (org, job_id) REFERENCES jobs (org, id) ON DELETE CASCADE
)${dialect.strictWithoutRowId}`,
  // The job is not the second column of these indexes: PostgreSQL has no statistics of units that were just inserted, and would look there,
  // among all units of the job, for each unit that a room or an endpoint refers to.
  // The number is a column of the first one: it has fewer levels than the primary key while all of its units are in one state, so that PostgreSQL
  // prefers it for a change of one unit.
  'CREATE INDEX job_units_state ON job_units (org, state, job_id, number)',
  // Units whose rooms were deleted are visible with their location.
  'CREATE INDEX job_units_location ON job_units (org, location_id, job_id)',
  // A unit is visible with its rooms. profile_before is the profile that the room had, if the job has changed it.
  `CREATE TABLE job_unit_rooms (
    org integer NOT NULL,
    job_id integer NOT NULL,
    unit integer NOT NULL,
    room_id integer NOT NULL,
    profile_changed integer NOT NULL DEFAULT 0,
    profile_before integer,
    PRIMARY KEY (org, job_id, unit, room_id),
    FOREIGN KEY (org, job_id, unit) REFERENCES job_units (org, job_id, number) ON DELETE CASCADE
)${dialect.strictWithoutRowId}`,
  'CREATE INDEX job_unit_rooms_room ON job_unit_rooms (org, room_id, job_id)',
  `CREATE TABLE job_endpoints (
    org integer NOT NULL,
    job_id integer NOT NULL,
    endpoint_id text NOT NULL,
    unit integer NOT NULL,
    name text NOT NULL,
    state text NOT NULL,
    error text,
    version_before integer,
    version_after integer,
    profile_before integer,
    profile_changed integer NOT NULL DEFAULT 0,
    operation_id text,
    PRIMARY KEY (org, job_id, endpoint_id),
    FOREIGN KEY (org, job_id, unit) REFERENCES job_units (org, job_id, number) ON DELETE CASCADE
)${dialect.strictWithoutRowId}`,
  'CREATE INDEX job_endpoints_unit ON job_endpoints (org, job_id, unit)',
  ...(dialect.engine === 'sqlite' ? storeIndexStatistics : []),
]
