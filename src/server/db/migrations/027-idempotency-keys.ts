// The keys with which requests of the last 24 hours were sent, and the answers that repeats get. [contract 7.once]
import type { MigrationStatements } from './dialect.ts'

export const idempotencyKeys: MigrationStatements = (dialect) => [
  `CREATE TABLE idempotency_keys (
    org integer NOT NULL REFERENCES orgs (key),
    id ${dialect.bytes} NOT NULL,
    request ${dialect.bytes} NOT NULL,
    number ${dialect.bigint} NOT NULL,
    total_bytes ${dialect.bigint} NOT NULL,
    entry ${dialect.bigint} NOT NULL,
    answer ${dialect.bytes},
    etag text,
    pending_until ${dialect.bigint},
    created_at ${dialect.bigint} NOT NULL,
    PRIMARY KEY (org, id)
)${dialect.strict}`,
  'CREATE UNIQUE INDEX idempotency_keys_number ON idempotency_keys (org, number)',
  'CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at)',
]
