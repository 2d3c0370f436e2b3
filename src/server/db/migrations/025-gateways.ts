// The devices that gateways manage for others: what people list, and what became of it. [contract 13.gateways]
import type { MigrationStatements } from './dialect.ts'

export const gateways: MigrationStatements = (dialect) => [
  // A row for each endpoint that has reported that it is a gateway, with the version of its list.
  `CREATE TABLE gateways (
    org integer NOT NULL,
    endpoint_id text NOT NULL,
    version integer NOT NULL,
    PRIMARY KEY (org, endpoint_id),
    FOREIGN KEY (org, endpoint_id) REFERENCES endpoints (org, id) ON DELETE CASCADE
)${dialect.strictWithoutRowId}`,
  // Room and endpoint have no foreign key: a node of the version before can delete them, and the item stays.
  `CREATE TABLE gateway_devices (
    org integer NOT NULL,
    id text NOT NULL,
    gateway_id text NOT NULL,
    revision integer NOT NULL,
    driver text NOT NULL,
    host text NOT NULL,
    port integer NOT NULL,
    username text,
    secrets ${dialect.bytes},
    options text NOT NULL,
    fingerprint text,
    room_id integer,
    name text,
    endpoint_id text,
    duplicate_of text,
    state text NOT NULL,
    reason text,
    since ${dialect.bigint} NOT NULL,
    reached_at ${dialect.bigint},
    created_at ${dialect.bigint} NOT NULL,
    PRIMARY KEY (org, id),
    FOREIGN KEY (org, gateway_id) REFERENCES gateways (org, endpoint_id) ON DELETE CASCADE
)${dialect.strict}`,
  'CREATE INDEX gateway_devices_gateway ON gateway_devices (org, gateway_id)',
  'CREATE INDEX gateway_devices_room ON gateway_devices (org, room_id)',
  'CREATE UNIQUE INDEX gateway_devices_endpoint ON gateway_devices (org, endpoint_id) WHERE endpoint_id IS NOT NULL',
  // Tests of the last minute. Secrets are deleted when the test ends.
  `CREATE TABLE gateway_tests (
    org integer NOT NULL,
    id text NOT NULL,
    gateway_id text NOT NULL,
    driver text NOT NULL,
    host text NOT NULL,
    port integer NOT NULL,
    username text,
    secrets ${dialect.bytes},
    options text NOT NULL,
    fingerprint text,
    created_at ${dialect.bigint} NOT NULL,
    ended integer NOT NULL,
    answer text,
    PRIMARY KEY (org, id),
    FOREIGN KEY (org, gateway_id) REFERENCES gateways (org, endpoint_id) ON DELETE CASCADE
)${dialect.strict}`,
  'CREATE INDEX gateway_tests_gateway ON gateway_tests (org, gateway_id)',
]
