// Adds the past that reports count: devices of stays, deleted rooms, former change windows, and the first acknowledgement of incidents. [contract 10.past]
import type { MigrationDialect, MigrationStatements } from './dialect.ts'

const nowMs = (dialect: MigrationDialect) =>
  dialect.engine === 'postgres'
    ? `cast(extract(epoch from now()) * 1000 as bigint)`
    : `cast(unixepoch() * 1000 as integer)`

/** The kind in the status of an endpoint. */
const reportedKind = (dialect: MigrationDialect) =>
  dialect.engine === 'postgres' ? `e.status::jsonb ->> 'kind'` : `e.status ->> '$.kind'`

const ofEndpoint = (value: string) =>
  `(SELECT ${value} FROM endpoints e WHERE e.org = endpoint_rooms.org AND e.number = endpoint_rooms.endpoint)`

export const reportHistory: MigrationStatements = (dialect) => [
  // Null while the stay lasts, because the row of the endpoint has them; null too if an earlier version ended the stay and the endpoint is gone.
  'ALTER TABLE endpoint_rooms ADD COLUMN serial text',
  'ALTER TABLE endpoint_rooms ADD COLUMN model text',
  'ALTER TABLE endpoint_rooms ADD COLUMN reported_kind text',
  'ALTER TABLE endpoint_rooms ADD COLUMN presence_only integer',
  `UPDATE endpoint_rooms SET serial = ${ofEndpoint('e.serial')}, model = ${ofEndpoint('e.model')},
    reported_kind = ${ofEndpoint(reportedKind(dialect))}, presence_only = ${ofEndpoint('e.presence_only')}
    WHERE until IS NOT NULL`,
  `CREATE TABLE deleted_rooms (
    org integer NOT NULL,
    id integer NOT NULL,
    name text NOT NULL,
    location_id integer,
    location_name text,
    region_id integer,
    region_name text,
    timezone text,
    capacity integer,
    tags text NOT NULL,
    fields text,
    deleted_at ${dialect.bigint} NOT NULL,
    PRIMARY KEY (org, id)
)${dialect.strict}`,
  'CREATE INDEX deleted_rooms_deleted_at ON deleted_rooms (deleted_at)',
  // A row says until when a window was in force, or, with null, until when the location had none. It was in force from the row before on.
  `CREATE TABLE former_change_windows (
    org integer NOT NULL,
    location_id integer NOT NULL,
    until ${dialect.bigint} NOT NULL,
    change_window text,
    PRIMARY KEY (org, location_id, until)
)${dialect.strictWithoutRowId}`,
  'CREATE INDEX former_change_windows_until ON former_change_windows (until)',
  `ALTER TABLE incidents ADD COLUMN acknowledged_at ${dialect.bigint}`,
  `UPDATE incidents SET acknowledged_at = (SELECT min(t.at) FROM incident_timeline t
    WHERE t.org = incidents.org AND t.incident_id = incidents.id AND t.kind = 'ACKNOWLEDGED')`,
  // Since when all of this is stored. An organisation that is made later has 0.
  `ALTER TABLE orgs ADD COLUMN past_known_from ${dialect.bigint} NOT NULL DEFAULT 0`,
  `UPDATE orgs SET past_known_from = ${nowMs(dialect)}`,
]
