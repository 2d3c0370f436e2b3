// Remembers which peripherals each endpoint has had, to notice one that is missing. [contract 10.rule]
import type { MigrationStatements } from './dialect.ts'

export const knownPeripherals: MigrationStatements = (dialect) => [
  // One row for each endpoint, with JSON: devices report up to 32 peripherals, and all of them are read and written together.
  `CREATE TABLE known_peripherals (
    org integer NOT NULL,
    endpoint_id text NOT NULL,
    peripherals text NOT NULL,
    PRIMARY KEY (org, endpoint_id),
    FOREIGN KEY (org, endpoint_id) REFERENCES endpoints (org, id) ON DELETE CASCADE
)${dialect.strictWithoutRowId}`,
]
