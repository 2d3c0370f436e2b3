// Samples of devices: their history, and the latest of each endpoint.

/** Scaled integers; null is a value that the device did not send. The ranges are checked where samples arrive. */
const values = `co2 integer,
    humidity integer,
    illumination integer,
    people integer,
    temp integer,
    voc integer,
    voc_index integer,
    shutter_closed integer CHECK (shutter_closed IN (0, 1))`

export const samples = [
  // A small number stands for an endpoint in its history: a UUID would be most of a row.
  `CREATE TABLE endpoint_numbers (
    org integer NOT NULL,
    endpoint_id text NOT NULL,
    number integer NOT NULL,
    PRIMARY KEY (org, endpoint_id),
    UNIQUE (org, number),
    FOREIGN KEY (org, endpoint_id) REFERENCES endpoints (org, id) ON DELETE CASCADE
)`,
  // The slot comes before the endpoint: what is written together lies together, and what grows old together goes together.
  `CREATE TABLE samples (
    org integer NOT NULL,
    slot integer NOT NULL,
    endpoint integer NOT NULL,
    timestamp bigint NOT NULL,
    ${values},
    PRIMARY KEY (org, slot, endpoint, timestamp)
) -- lies in the order of its key`,
  `CREATE TABLE samples_latest (
    org integer NOT NULL,
    endpoint_id text NOT NULL,
    timestamp bigint NOT NULL,
    ${values},
    PRIMARY KEY (org, endpoint_id),
    FOREIGN KEY (org, endpoint_id) REFERENCES endpoints (org, id) ON DELETE CASCADE
)`,
]
