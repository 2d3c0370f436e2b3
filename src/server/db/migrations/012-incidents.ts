// Incidents and messages: connection history, findings, incidents, silences, channels and what waits for them.
import type { MigrationStatements } from './dialect.ts'

export const incidents: MigrationStatements = (dialect) => [
  'ALTER TABLE rooms ADD COLUMN capacity integer',
  'ALTER TABLE locations ADD COLUMN timezone text',
  // Which messages each channel wants, as JSON (channels/filter.ts). Every audited change reads this row, and so knows whether to write one.
  `ALTER TABLE audit_heads ADD COLUMN wanted_messages text NOT NULL DEFAULT '[]'`,
  // Ended connections only: the row of the endpoint has the present one. `endpoint` is its number.
  `CREATE TABLE connection_spans (
    org integer NOT NULL REFERENCES orgs (key),
    endpoint integer NOT NULL,
    since ${dialect.bigint} NOT NULL,
    until ${dialect.bigint} NOT NULL,
    why text NOT NULL,
    PRIMARY KEY (org, endpoint, since)
)${dialect.strictWithoutRowId}`,
  'CREATE INDEX connection_spans_until ON connection_spans (until)',
  // Finds the endpoints that have been disconnected, or connected, for a given time.
  'CREATE INDEX endpoints_connection_time ON endpoints (connection_time, org)',
  'CREATE INDEX rooms_capacity ON rooms (org, id) WHERE capacity IS NOT NULL',
  // Finds the configs that were refused at a given time.
  `CREATE INDEX config_versions_failed ON config_versions (org, updated_at) WHERE state = 'FAILED'`,
  // Wrong credentials and connections that were taken over, counted by minute and address.
  `CREATE TABLE credential_attempts (
    org integer NOT NULL REFERENCES orgs (key),
    endpoint_id text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('refused', 'taken over')),
    minute ${dialect.bigint} NOT NULL,
    address text NOT NULL,
    count integer NOT NULL,
    PRIMARY KEY (org, endpoint_id, kind, minute, address)
)${dialect.strictWithoutRowId}`,
  'CREATE INDEX credential_attempts_minute ON credential_attempts (minute)',
  // The changes of an organisation to a rule, as JSON.
  `CREATE TABLE incident_rules (
    org integer NOT NULL REFERENCES orgs (key),
    rule text NOT NULL,
    version integer NOT NULL,
    settings text NOT NULL,
    PRIMARY KEY (org, rule)
)${dialect.strictWithoutRowId}`,
  `CREATE TABLE silences (
    org integer NOT NULL REFERENCES orgs (key),
    id integer NOT NULL,
    version integer NOT NULL,
    place_type text NOT NULL CHECK (place_type IN ('all', 'region', 'location', 'room', 'endpoint')),
    place_id text NOT NULL,
    rules text,
    reason text NOT NULL,
    since ${dialect.bigint} NOT NULL,
    until ${dialect.bigint},
    weekly text,
    author_type text NOT NULL,
    author_id text NOT NULL,
    author_name text NOT NULL,
    PRIMARY KEY (org, id)
)${dialect.strictWithoutRowId}`,
  `CREATE TABLE incidents (
    org integer NOT NULL REFERENCES orgs (key),
    id integer NOT NULL,
    version integer NOT NULL,
    rule text NOT NULL,
    severity text NOT NULL,
    state text NOT NULL CHECK (state IN ('OPEN', 'ACKNOWLEDGED', 'RESOLVED', 'MERGED')),
    level text NOT NULL,
    cause_id text NOT NULL,
    cause_name text NOT NULL,
    detail text NOT NULL DEFAULT '{}',
    since ${dialect.bigint} NOT NULL,
    opened_at ${dialect.bigint} NOT NULL,
    updated_at ${dialect.bigint} NOT NULL,
    resolved_at ${dialect.bigint},
    cause_ended_at ${dialect.bigint},
    occurrences integer NOT NULL DEFAULT 1,
    reopenings text NOT NULL DEFAULT '[]',
    flapping integer NOT NULL DEFAULT 0,
    acknowledged_by text,
    assignee_id integer,
    snoozed_until ${dialect.bigint},
    snoozed_until_cleared integer NOT NULL DEFAULT 0,
    merged_into integer,
    split_from integer,
    PRIMARY KEY (org, id)
)${dialect.strictWithoutRowId}`,
  `CREATE INDEX incidents_state ON incidents (org, state, id)`,
  `CREATE INDEX incidents_cause ON incidents (org, rule, level, cause_id, id)`,
  'CREATE INDEX incidents_updated ON incidents (updated_at)',
  // Finds the incidents whose cause lasts or has just ended.
  'CREATE INDEX incidents_cause_ended ON incidents (org, cause_ended_at)',
  'CREATE INDEX incidents_flapping ON incidents (org) WHERE flapping = 1',
  `CREATE INDEX incidents_open ON incidents (severity) WHERE state = 'OPEN' OR state = 'ACKNOWLEDGED'`,
  // Something that is wrong with one subject, or may be: it matures, joins an incident, and ends.
  `CREATE TABLE findings (
    org integer NOT NULL REFERENCES orgs (key),
    rule text NOT NULL,
    subject_type text NOT NULL CHECK (subject_type IN ('endpoint', 'room', 'channel', 'organisation', 'job')),
    subject_id text NOT NULL,
    since ${dialect.bigint} NOT NULL,
    matured_at ${dialect.bigint},
    clear_since ${dialect.bigint},
    incident_id integer,
    detail text NOT NULL DEFAULT '{}',
    PRIMARY KEY (org, rule, subject_type, subject_id)
)${dialect.strictWithoutRowId}`,
  'CREATE INDEX findings_incident ON findings (org, incident_id)',
  // The place of a subject is that of the time at which it joined: it counts for who sees the incident.
  `CREATE TABLE incident_subjects (
    org integer NOT NULL,
    incident_id integer NOT NULL,
    subject_type text NOT NULL,
    subject_id text NOT NULL,
    name text NOT NULL,
    room_id integer,
    room_name text,
    location_id integer,
    region_id integer,
    since ${dialect.bigint} NOT NULL,
    ended_at ${dialect.bigint},
    PRIMARY KEY (org, incident_id, subject_type, subject_id),
    FOREIGN KEY (org, incident_id) REFERENCES incidents (org, id) ON DELETE CASCADE
)${dialect.strictWithoutRowId}`,
  'CREATE INDEX incident_subjects_subject ON incident_subjects (org, subject_type, subject_id, incident_id)',
  'CREATE INDEX incident_subjects_room ON incident_subjects (org, room_id, incident_id)',
  `CREATE TABLE incident_timeline (
    org integer NOT NULL,
    incident_id integer NOT NULL,
    number integer NOT NULL,
    at ${dialect.bigint} NOT NULL,
    kind text NOT NULL,
    actor_type text,
    actor_id text,
    actor_name text,
    text text,
    PRIMARY KEY (org, incident_id, number),
    FOREIGN KEY (org, incident_id) REFERENCES incidents (org, id) ON DELETE CASCADE
)${dialect.strictWithoutRowId}`,
  // Restarts until this time were judged: whether enough devices came back.
  `CREATE TABLE incident_progress (
    org integer PRIMARY KEY REFERENCES orgs (key),
    judged_until ${dialect.bigint} NOT NULL
)${dialect.strict}`,
  `CREATE TABLE channels (
    org integer NOT NULL REFERENCES orgs (key),
    id integer NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    enabled integer NOT NULL,
    disabled_reason text,
    settings text NOT NULL,
    secrets ${dialect.bytes} NOT NULL,
    last_sequence integer NOT NULL DEFAULT 0,
    created_at ${dialect.bigint} NOT NULL,
    delivered_at ${dialect.bigint},
    failing_since ${dialect.bigint},
    last_error text,
    heartbeat_at ${dialect.bigint},
    PRIMARY KEY (org, id)
)${dialect.strictWithoutRowId}`,
  // Written in the commit of its cause. Messages with the same order key are delivered in the order of their numbers.
  `CREATE TABLE messages (
    number ${dialect.identity} PRIMARY KEY,
    org integer NOT NULL REFERENCES orgs (key),
    id text NOT NULL,
    type text NOT NULL,
    order_key text NOT NULL,
    incident_id integer,
    data text NOT NULL,
    created_at ${dialect.bigint} NOT NULL
)${dialect.strict}`,
  'CREATE INDEX messages_created ON messages (created_at)',
  // Finds the openings that a digest may have, among many other messages.
  `CREATE INDEX messages_openings ON messages (org, created_at) WHERE type = 'incident.opened'`,
  // Finds the messages about an incident or an endpoint, which are delivered in order.
  'CREATE INDEX messages_order_key ON messages (org, order_key, number)',
  `CREATE TABLE deliveries (
    org integer NOT NULL,
    channel_id integer NOT NULL,
    message integer NOT NULL REFERENCES messages (number) ON DELETE CASCADE,
    sequence integer,
    state text NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    next_at ${dialect.bigint},
    status integer,
    error text,
    delivered_at ${dialect.bigint},
    replayed_at ${dialect.bigint},
    PRIMARY KEY (org, channel_id, message),
    FOREIGN KEY (org, channel_id) REFERENCES channels (org, id) ON DELETE CASCADE
)${dialect.strictWithoutRowId}`,
  `CREATE INDEX deliveries_waiting ON deliveries (org, channel_id, next_at, message) WHERE state = 'WAITING'`,
  // Finds the first one that waits, so that the search for earlier messages with its order key ends there.
  `CREATE INDEX deliveries_first_waiting ON deliveries (org, channel_id, message) WHERE state = 'WAITING'`,
  'CREATE INDEX deliveries_message ON deliveries (message)',
  ...(dialect.engine === 'sqlite' ? newMessages : []),
]

/**
 * A message and its deliveries are written by one statement. PostgreSQL can insert into both tables together; on SQLite a row that is
 * inserted into this view becomes both. A channel that was deleted in the meantime gets no delivery.
 */
const newMessages = [
  `CREATE VIEW new_messages AS
    SELECT org, id, type, order_key, incident_id, data, created_at, 0 AS next_at, '[]' AS channels FROM messages WHERE false`,
  `CREATE TRIGGER new_messages_insert INSTEAD OF INSERT ON new_messages BEGIN
    INSERT INTO messages (org, id, type, order_key, incident_id, data, created_at)
      VALUES (new.org, new.id, new.type, new.order_key, new.incident_id, new.data, new.created_at);
    INSERT INTO deliveries (org, channel_id, message, state, next_at)
      SELECT c.org, c.id, last_insert_rowid(), 'WAITING', new.next_at FROM channels c
      WHERE c.org = new.org AND c.id IN (SELECT value FROM json_each(new.channels));
  END`,
]
