// Keeps when sources were away after they are deleted, and finds the stays of endpoints that are gone by their id. [contract 10.past]
import type { MigrationStatements } from './dialect.ts'

export const formerAbsences: MigrationStatements = (dialect) => [
  `CREATE TABLE former_source_absences (
    org integer NOT NULL,
    source_id text NOT NULL,
    since ${dialect.bigint} NOT NULL,
    until ${dialect.bigint} NOT NULL,
    deleted_at ${dialect.bigint} NOT NULL,
    PRIMARY KEY (org, source_id, since)
)${dialect.strictWithoutRowId}`,
  'CREATE INDEX former_source_absences_until ON former_source_absences (until)',
  'CREATE INDEX endpoint_rooms_endpoint_id ON endpoint_rooms (org, endpoint_id)',
]
