// Where a MOVE job found the endpoints that it moved, so a rollback can move them back.
import type { MigrationStatements } from './dialect.ts'

export const moves: MigrationStatements = (dialect) => [
  // Has a row for each endpoint that moved with the unit, including members of pair groups that the job does not target.
  `CREATE TABLE job_moves (
    org integer NOT NULL,
    job_id integer NOT NULL,
    unit integer NOT NULL,
    endpoint_id text NOT NULL,
    room_before integer,
    room_after integer NOT NULL,
    PRIMARY KEY (org, job_id, unit, endpoint_id),
    FOREIGN KEY (org, job_id, unit) REFERENCES job_units (org, job_id, number) ON DELETE CASCADE
)${dialect.strictWithoutRowId}`,
]
