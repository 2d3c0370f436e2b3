// History of sensor data: numbers and rooms of endpoints, rollups, and raw samples by day on PostgreSQL.
import type { MigrationDialect, MigrationStatements } from './dialect.ts'

const sensorColumns = ['co2', 'humidity', 'illumination', 'people', 'temp', 'voc', 'voc_index']

/** The columns of one sensor in a rollup. The integers are scaled, and null where nothing was measured. */
const statistics = (dialect: MigrationDialect) =>
  sensorColumns
    .map(
      (sensor) =>
        `${sensor}_count integer NOT NULL, ${sensor}_min integer, ${sensor}_max integer, ${sensor}_sum ${dialect.bigint}`,
    )
    .join(',\n    ')

/** Room 0 stands for no room. The endpoint comes first in the key because queries read one endpoint over time. */
const rollup = (dialect: MigrationDialect, name: string) => `CREATE TABLE ${name} (
    org integer NOT NULL,
    endpoint integer NOT NULL,
    slot integer NOT NULL,
    room integer NOT NULL,
    ${statistics(dialect)},
    PRIMARY KEY (org, endpoint, slot, room)
)${dialect.strictWithoutRowId}`

const partitionedSampleColumns = `org integer NOT NULL,
    slot integer NOT NULL,
    endpoint integer NOT NULL,
    timestamp bigint NOT NULL,
    ${sensorColumns.map((sensor) => `${sensor} integer`).join(',\n    ')},
    shutter_closed integer CHECK (shutter_closed IN (0, 1))`

const names = `org, slot, endpoint, timestamp, ${sensorColumns.join(', ')}, shutter_closed`

export const history: MigrationStatements = (dialect) => [
  // Every endpoint gets a number in its own row, which replaces the table endpoint_numbers.
  `INSERT INTO endpoint_numbers (org, endpoint_id, number)
    SELECT e.org, e.id, COALESCE(c.last, 0) + row_number() OVER (PARTITION BY e.org ORDER BY e.id)
    FROM endpoints e LEFT JOIN counters c ON c.org = e.org AND c.noun = 'endpoint'
    WHERE NOT EXISTS (SELECT 1 FROM endpoint_numbers n WHERE n.org = e.org AND n.endpoint_id = e.id)`,
  'ALTER TABLE endpoints ADD COLUMN number integer NOT NULL DEFAULT 0',
  `UPDATE endpoints SET number =
    (SELECT n.number FROM endpoint_numbers n WHERE n.org = endpoints.org AND n.endpoint_id = endpoints.id)`,
  'CREATE UNIQUE INDEX endpoints_number ON endpoints (org, number)',
  `INSERT INTO counters (org, noun, last)
    SELECT org, 'endpoint', max(number) FROM endpoint_numbers WHERE true GROUP BY org
    ON CONFLICT (org, noun) DO UPDATE SET last = CASE WHEN excluded.last > counters.last THEN excluded.last ELSE counters.last END`,
  'DROP TABLE endpoint_numbers',

  // These rows outlive the endpoint: the history of a room includes endpoints that were deleted since.
  `CREATE TABLE endpoint_rooms (
    org integer NOT NULL,
    endpoint integer NOT NULL,
    since ${dialect.bigint} NOT NULL,
    until ${dialect.bigint},
    room_id integer NOT NULL,
    endpoint_id text NOT NULL,
    PRIMARY KEY (org, endpoint, since)
)${dialect.strict}`,
  'CREATE INDEX endpoint_rooms_room ON endpoint_rooms (org, room_id)',
  `INSERT INTO endpoint_rooms (org, endpoint, since, until, room_id, endpoint_id)
    SELECT org, number, 0, NULL, room_id, id FROM endpoints WHERE room_id IS NOT NULL`,

  `ALTER TABLE samples_latest RENAME TO samples_latest_before`,
  `CREATE TABLE samples_latest (
    org integer NOT NULL,
    endpoint integer NOT NULL,
    timestamp ${dialect.bigint} NOT NULL,
    ${sensorColumns.map((sensor) => `${sensor} integer`).join(',\n    ')},
    shutter_closed integer CHECK (shutter_closed IN (0, 1)),
    PRIMARY KEY (org, endpoint)
)${dialect.strictWithoutRowId}`,
  `INSERT INTO samples_latest (org, endpoint, timestamp, ${sensorColumns.join(', ')}, shutter_closed)
    SELECT s.org, e.number, s.timestamp, ${sensorColumns.map((sensor) => `s.${sensor}`).join(', ')}, s.shutter_closed
    FROM samples_latest_before s JOIN endpoints e ON e.org = s.org AND e.id = s.endpoint_id`,
  'DROP TABLE samples_latest_before',

  rollup(dialect, 'sample_quarters'),
  rollup(dialect, 'sample_hours'),
  rollup(dialect, 'sample_days'),
  `CREATE TABLE sample_due (
    org integer NOT NULL,
    endpoint integer NOT NULL,
    slot integer NOT NULL,
    PRIMARY KEY (org, endpoint, slot)
)${dialect.strictWithoutRowId}`,
  'INSERT INTO sample_due (org, endpoint, slot) SELECT DISTINCT org, endpoint, slot / 3 FROM samples',
  `CREATE TABLE sample_progress (
    org integer PRIMARY KEY REFERENCES orgs (key),
    timezone text NOT NULL,
    samples_from ${dialect.bigint} NOT NULL DEFAULT 0,
    quarters_from ${dialect.bigint} NOT NULL DEFAULT 0
)${dialect.strict}`,
  "ALTER TABLE orgs ADD COLUMN timezone text NOT NULL DEFAULT 'UTC'",

  ...(dialect.engine === 'postgres' ? partitionSamples : []),
]

/** PostgreSQL stores each day (UTC) in a partition, so that expired days are dropped and not deleted row by row. */
const partitionSamples = [
  'ALTER TABLE samples RENAME TO samples_before',
  'ALTER INDEX samples_pkey RENAME TO samples_before_pkey',
  `CREATE TABLE samples (
    ${partitionedSampleColumns},
    PRIMARY KEY (org, slot, endpoint, timestamp)
) PARTITION BY RANGE (slot)`,
  `DO $$
DECLARE day integer;
BEGIN
    FOR day IN SELECT DISTINCT slot / 288 FROM samples_before LOOP
        EXECUTE format('CREATE TABLE samples_day_%s PARTITION OF samples FOR VALUES FROM (%s) TO (%s)', day, day * 288, (day + 1) * 288);
    END LOOP;
    INSERT INTO samples (${names}) SELECT ${names} FROM samples_before;
END $$`,
  'DROP TABLE samples_before',
  // Until autovacuum analyses the new table, the planner would take it for empty.
  'ANALYZE',
]
