// Systems that know many devices, which gateways read: what people connect, and what was found there. [contract 15.sources]
import type { MigrationStatements } from './dialect.ts'

export const sources: MigrationStatements = (dialect) => [
  // Rooms have no foreign key: a node of the version before can delete them, and the source stays.
  `CREATE TABLE sources (
    org integer NOT NULL,
    id text NOT NULL,
    gateway_id text NOT NULL,
    type text NOT NULL,
    name text NOT NULL,
    url text NOT NULL,
    settings text NOT NULL,
    secrets ${dialect.bytes},
    enrol_room_id integer,
    revision integer NOT NULL,
    state text NOT NULL,
    reason text,
    since ${dialect.bigint} NOT NULL,
    reached_at ${dialect.bigint},
    returned_at ${dialect.bigint},
    content text,
    structure_at ${dialect.bigint},
    created_at ${dialect.bigint} NOT NULL,
    PRIMARY KEY (org, id),
    FOREIGN KEY (org, gateway_id) REFERENCES gateways (org, endpoint_id) ON DELETE CASCADE
)${dialect.strict}`,
  'CREATE INDEX sources_gateway ON sources (org, gateway_id)',
  `CREATE TABLE source_absences (
    org integer NOT NULL,
    source_id text NOT NULL,
    since ${dialect.bigint} NOT NULL,
    until ${dialect.bigint},
    PRIMARY KEY (org, source_id, since),
    FOREIGN KEY (org, source_id) REFERENCES sources (org, id) ON DELETE CASCADE
)${dialect.strictWithoutRowId}`,
  'CREATE INDEX source_absences_until ON source_absences (until)',
  `CREATE TABLE source_devices (
    org integer NOT NULL,
    source_id text NOT NULL,
    key text NOT NULL,
    is_excluded integer NOT NULL,
    is_missing integer NOT NULL,
    report text NOT NULL,
    last_message text,
    found_at ${dialect.bigint} NOT NULL,
    PRIMARY KEY (org, source_id, key),
    FOREIGN KEY (org, source_id) REFERENCES sources (org, id) ON DELETE CASCADE
)${dialect.strict}`,
  `CREATE TABLE source_things (
    org integer NOT NULL,
    source_id text NOT NULL,
    kind text NOT NULL,
    their_id text NOT NULL,
    report text NOT NULL,
    read_at ${dialect.bigint} NOT NULL,
    PRIMARY KEY (org, source_id, kind, their_id),
    FOREIGN KEY (org, source_id) REFERENCES sources (org, id) ON DELETE CASCADE
)${dialect.strictWithoutRowId}`,
  `CREATE TABLE source_links (
    org integer NOT NULL,
    source_id text NOT NULL,
    kind text NOT NULL,
    their_id text NOT NULL,
    our_id integer NOT NULL,
    PRIMARY KEY (org, source_id, kind, their_id),
    FOREIGN KEY (org, source_id) REFERENCES sources (org, id) ON DELETE CASCADE
)${dialect.strictWithoutRowId}`,
  'CREATE UNIQUE INDEX source_links_our_id ON source_links (org, source_id, kind, our_id)',
  // An item with a source is a device of it that was adopted.
  'ALTER TABLE gateway_devices ADD COLUMN source_id text',
  'ALTER TABLE gateway_devices ADD COLUMN source_key text',
  'CREATE UNIQUE INDEX gateway_devices_source ON gateway_devices (org, source_id, source_key) WHERE source_id IS NOT NULL',
  'ALTER TABLE endpoints ADD COLUMN source_id text',
  'ALTER TABLE endpoints ADD COLUMN source_type text',
  'ALTER TABLE endpoints ADD COLUMN missing_at_source integer NOT NULL DEFAULT 0',
  'CREATE INDEX endpoints_source ON endpoints (org, source_id) WHERE source_id IS NOT NULL',
  // The source whose absence says what is known about the time after a connection, as `via` does for gateways.
  'ALTER TABLE connection_spans ADD COLUMN source_id text',
]
