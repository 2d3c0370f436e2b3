// Samples of devices: their history, and the latest of each endpoint.
import type { MigrationStatements } from './dialect.ts'

/** The integers are scaled; null stands for a value that the device did not send. Ranges are checked when samples are received. */
const sensorValues = `co2 integer,
    humidity integer,
    illumination integer,
    people integer,
    temp integer,
    voc integer,
    voc_index integer,
    shutter_closed integer CHECK (shutter_closed IN (0, 1))`

export const samples: MigrationStatements = (dialect) => [
  // A small number stands for the endpoint in its history, because a UUID would take most of a row.
  `CREATE TABLE endpoint_numbers (
    org integer NOT NULL,
    endpoint_id text NOT NULL,
    number integer NOT NULL,
    PRIMARY KEY (org, endpoint_id),
    UNIQUE (org, number),
    FOREIGN KEY (org, endpoint_id) REFERENCES endpoints (org, id) ON DELETE CASCADE
)${dialect.strict}`,
  // The slot comes before the endpoint, so that rows that are written together, and expire together, are stored together.
  `CREATE TABLE samples (
    org integer NOT NULL,
    slot integer NOT NULL,
    endpoint integer NOT NULL,
    timestamp ${dialect.bigint} NOT NULL,
    ${sensorValues},
    PRIMARY KEY (org, slot, endpoint, timestamp)
)${dialect.strictWithoutRowId}`,
  `CREATE TABLE samples_latest (
    org integer NOT NULL,
    endpoint_id text NOT NULL,
    timestamp ${dialect.bigint} NOT NULL,
    ${sensorValues},
    PRIMARY KEY (org, endpoint_id),
    FOREIGN KEY (org, endpoint_id) REFERENCES endpoints (org, id) ON DELETE CASCADE
)${dialect.strict}`,
]
