// The first tables: organisations, their structure, keys, the audit log, and the endpoints.
import type { MigrationStatements } from './dialect.ts'

/** Every primary key starts with the organisation's number, except in the directories: they find the organisation of a secret. */
export const initial: MigrationStatements = (dialect) => [
  `CREATE TABLE settings (
    name text PRIMARY KEY,
    value text NOT NULL
)${dialect.strict}`,
  `CREATE TABLE orgs (
    key ${dialect.identity} PRIMARY KEY,
    id text NOT NULL UNIQUE,
    name text NOT NULL,
    created_at ${dialect.bigint} NOT NULL
)${dialect.strict}`,
  `CREATE TABLE counters (
    org integer NOT NULL REFERENCES orgs (key),
    noun text NOT NULL,
    last integer NOT NULL,
    PRIMARY KEY (org, noun)
)${dialect.strict}`,
  `CREATE TABLE audit_heads (
    org integer PRIMARY KEY REFERENCES orgs (key),
    count ${dialect.bigint} NOT NULL,
    mac ${dialect.bytes} NOT NULL,
    timestamp ${dialect.bigint} NOT NULL
)${dialect.strict}`,
  `CREATE TABLE audit_log (
    org integer NOT NULL REFERENCES orgs (key),
    seq ${dialect.bigint} NOT NULL,
    timestamp ${dialect.bigint} NOT NULL,
    category text NOT NULL,
    type text NOT NULL,
    actor_type text NOT NULL,
    actor_id text NOT NULL,
    actor_name text NOT NULL,
    target_type text NOT NULL,
    target_id text NOT NULL,
    target_name text NOT NULL,
    details text NOT NULL,
    request_id text,
    ip text,
    mac ${dialect.bytes} NOT NULL,
    PRIMARY KEY (org, seq)
)${dialect.strict}`,
  'CREATE INDEX audit_log_window ON audit_log (org, timestamp, seq)',
  `CREATE TABLE api_keys (
    org integer NOT NULL REFERENCES orgs (key),
    id integer NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    read integer NOT NULL CHECK (read IN (0, 1)),
    write integer NOT NULL CHECK (write IN (0, 1)),
    manage integer NOT NULL CHECK (manage IN (0, 1)),
    rate_limit integer CHECK (rate_limit >= 0),
    created_at ${dialect.bigint} NOT NULL,
    expires_at ${dialect.bigint},
    last_used_at ${dialect.bigint},
    PRIMARY KEY (org, id),
    CHECK (read + write > 0)
)${dialect.strict}`,
  `CREATE TABLE key_directory (
    hash ${dialect.bytes} PRIMARY KEY,
    org integer NOT NULL,
    key_id integer NOT NULL,
    FOREIGN KEY (org, key_id) REFERENCES api_keys (org, id) ON DELETE CASCADE
)${dialect.strict}`,
  'CREATE INDEX key_directory_key ON key_directory (org, key_id)',
  `CREATE TABLE regions (
    org integer NOT NULL REFERENCES orgs (key),
    id integer NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (org, id)
)${dialect.strict}`,
  `CREATE TABLE locations (
    org integer NOT NULL REFERENCES orgs (key),
    id integer NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    region_id integer,
    PRIMARY KEY (org, id),
    FOREIGN KEY (org, region_id) REFERENCES regions (org, id)
)${dialect.strict}`,
  'CREATE INDEX locations_region ON locations (org, region_id)',
  `CREATE TABLE profiles (
    org integer NOT NULL REFERENCES orgs (key),
    id integer NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    description text,
    config_id integer NOT NULL,
    config text NOT NULL,
    secrets text NOT NULL,
    PRIMARY KEY (org, id)
)${dialect.strict}`,
  `CREATE TABLE rooms (
    org integer NOT NULL REFERENCES orgs (key),
    id integer NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    location_id integer,
    profile_id integer,
    dec_sealed ${dialect.bytes} NOT NULL,
    dec_used_at ${dialect.bigint},
    dec_timeout integer NOT NULL,
    PRIMARY KEY (org, id),
    FOREIGN KEY (org, location_id) REFERENCES locations (org, id),
    FOREIGN KEY (org, profile_id) REFERENCES profiles (org, id)
)${dialect.strict}`,
  'CREATE INDEX rooms_location ON rooms (org, location_id)',
  'CREATE INDEX rooms_profile ON rooms (org, profile_id)',
  `CREATE TABLE dec_directory (
    mac ${dialect.bytes} PRIMARY KEY,
    org integer NOT NULL,
    room_id integer NOT NULL,
    FOREIGN KEY (org, room_id) REFERENCES rooms (org, id) ON DELETE CASCADE
)${dialect.strict}`,
  'CREATE UNIQUE INDEX dec_directory_room ON dec_directory (org, room_id)',
  `CREATE TABLE room_notes (
    org integer NOT NULL REFERENCES orgs (key),
    id integer NOT NULL,
    room_id integer NOT NULL,
    version integer NOT NULL,
    note text NOT NULL,
    author text NOT NULL,
    created_at ${dialect.bigint} NOT NULL,
    PRIMARY KEY (org, id),
    FOREIGN KEY (org, room_id) REFERENCES rooms (org, id) ON DELETE CASCADE
)${dialect.strict}`,
  'CREATE INDEX room_notes_room ON room_notes (org, room_id, id)',
  `CREATE TABLE users (
    org integer NOT NULL REFERENCES orgs (key),
    id integer NOT NULL,
    version integer NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL,
    role text NOT NULL CHECK (role IN ('owner', 'admin')),
    PRIMARY KEY (org, id),
    UNIQUE (org, email_key)
)${dialect.strict}`,
  `CREATE TABLE user_regions (
    org integer NOT NULL,
    user_id integer NOT NULL,
    region_id integer NOT NULL,
    PRIMARY KEY (org, user_id, region_id),
    FOREIGN KEY (org, user_id) REFERENCES users (org, id) ON DELETE CASCADE,
    FOREIGN KEY (org, region_id) REFERENCES regions (org, id)
)${dialect.strict}`,
  'CREATE INDEX user_regions_region ON user_regions (org, region_id)',
  `CREATE TABLE endpoints (
    org integer NOT NULL REFERENCES orgs (key),
    id text NOT NULL,
    version integer NOT NULL,
    serial text NOT NULL,
    pairing_serial text,
    model text NOT NULL,
    room_id integer,
    profile_id integer,
    connected integer NOT NULL CHECK (connected IN (0, 1)),
    connection_time ${dialect.bigint},
    enrolment_time ${dialect.bigint} NOT NULL,
    status text NOT NULL,
    PRIMARY KEY (org, id),
    UNIQUE (org, serial),
    FOREIGN KEY (org, room_id) REFERENCES rooms (org, id),
    FOREIGN KEY (org, profile_id) REFERENCES profiles (org, id)
)${dialect.strict}`,
  'CREATE INDEX endpoints_room ON endpoints (org, room_id)',
  'CREATE INDEX endpoints_profile ON endpoints (org, profile_id)',
]
