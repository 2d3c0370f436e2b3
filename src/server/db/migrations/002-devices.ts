// Devices: their credentials, configs, operations and bug reports.
import type { MigrationStatements } from './dialect.ts'

const states = "'QUEUED', 'SENT', 'ACKNOWLEDGED', 'SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELLED', 'SKIPPED'"

export const devices: MigrationStatements = (dialect) => [
  // A pair group consists of the endpoints with the same leader. [contract 5.1.pairing]
  'CREATE INDEX endpoints_leader ON endpoints (org, COALESCE(pairing_serial, serial))',
  `CREATE TABLE credential_directory (
    hash ${dialect.bytes} PRIMARY KEY,
    org integer NOT NULL,
    endpoint_id text NOT NULL,
    FOREIGN KEY (org, endpoint_id) REFERENCES endpoints (org, id) ON DELETE CASCADE
)${dialect.strict}`,
  'CREATE UNIQUE INDEX credential_directory_endpoint ON credential_directory (org, endpoint_id)',
  `CREATE TABLE serial_directory (
    serial text PRIMARY KEY,
    org integer NOT NULL,
    endpoint_id text NOT NULL,
    FOREIGN KEY (org, endpoint_id) REFERENCES endpoints (org, id) ON DELETE CASCADE
)${dialect.strict}`,
  'CREATE UNIQUE INDEX serial_directory_endpoint ON serial_directory (org, endpoint_id)',
  `CREATE TABLE dec_past (
    mac ${dialect.bytes} PRIMARY KEY,
    org integer NOT NULL,
    room_id integer NOT NULL,
    FOREIGN KEY (org, room_id) REFERENCES rooms (org, id) ON DELETE CASCADE
)${dialect.strict}`,
  'CREATE INDEX dec_past_room ON dec_past (org, room_id)',
  `CREATE TABLE endpoint_configs (
    org integer NOT NULL,
    endpoint_id text NOT NULL,
    version integer NOT NULL DEFAULT 0,
    state text NOT NULL DEFAULT 'DELIVERED' CHECK (state IN ('PENDING', 'DELIVERED', 'FAILED')),
    error text,
    explicit text NOT NULL DEFAULT '{}',
    secrets text NOT NULL DEFAULT '{}',
    reported_version integer NOT NULL DEFAULT 0,
    reported text NOT NULL DEFAULT '{}',
    reported_at ${dialect.bigint},
    rejected text NOT NULL DEFAULT '{}',
    PRIMARY KEY (org, endpoint_id),
    FOREIGN KEY (org, endpoint_id) REFERENCES endpoints (org, id) ON DELETE CASCADE
)${dialect.strict}`,
  `CREATE TABLE config_versions (
    org integer NOT NULL,
    endpoint_id text NOT NULL,
    version integer NOT NULL,
    state text NOT NULL CHECK (state IN ('PENDING', 'DELIVERED', 'FAILED', 'SUPERSEDED')),
    error text,
    explicit text NOT NULL,
    secrets text NOT NULL,
    profile_id integer,
    profile text NOT NULL,
    profile_secrets text NOT NULL,
    author_type text NOT NULL,
    author_id text NOT NULL,
    author_name text NOT NULL,
    created_at ${dialect.bigint} NOT NULL,
    updated_at ${dialect.bigint} NOT NULL,
    PRIMARY KEY (org, endpoint_id, version),
    FOREIGN KEY (org, endpoint_id) REFERENCES endpoints (org, id) ON DELETE CASCADE
)${dialect.strict}`,
  `CREATE TABLE operations (
    org integer NOT NULL REFERENCES orgs (key),
    id text NOT NULL,
    endpoint_id text NOT NULL,
    type text NOT NULL CHECK (type IN ('REBOOT', 'MESSAGE', 'COLLECT_LOGS')),
    state text NOT NULL CHECK (state IN (${states})),
    payload text NOT NULL,
    created_at ${dialect.bigint} NOT NULL,
    updated_at ${dialect.bigint} NOT NULL,
    deadline ${dialect.bigint} NOT NULL,
    sent_at ${dialect.bigint},
    told_at ${dialect.bigint},
    error text,
    PRIMARY KEY (org, id)
)${dialect.strict}`,
  'CREATE INDEX operations_endpoint ON operations (org, endpoint_id, created_at)',
  `CREATE INDEX operations_open ON operations (deadline) WHERE state IN ('QUEUED', 'SENT', 'ACKNOWLEDGED')`,
  `CREATE INDEX operations_final ON operations (updated_at) WHERE state IN ('SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELLED', 'SKIPPED')`,
  `CREATE TABLE bug_reports (
    org integer NOT NULL REFERENCES orgs (key),
    id text NOT NULL,
    created_at ${dialect.bigint} NOT NULL,
    expires_at ${dialect.bigint} NOT NULL,
    in_call_logs integer NOT NULL CHECK (in_call_logs IN (0, 1)),
    PRIMARY KEY (org, id)
)${dialect.strict}`,
  'CREATE INDEX bug_reports_expiry ON bug_reports (expires_at)',
  `CREATE TABLE bug_report_items (
    org integer NOT NULL,
    report_id text NOT NULL,
    endpoint_id text NOT NULL,
    serial text NOT NULL,
    model text NOT NULL,
    operation_id text NOT NULL,
    file text,
    size ${dialect.bigint},
    uploaded_at ${dialect.bigint},
    PRIMARY KEY (org, report_id, endpoint_id),
    FOREIGN KEY (org, report_id) REFERENCES bug_reports (org, id) ON DELETE CASCADE
)${dialect.strict}`,
  'CREATE UNIQUE INDEX bug_report_items_operation ON bug_report_items (org, operation_id)',
]
