// Credentials of endpoints that were unenrolled, so that their devices can be told.
import type { MigrationStatements } from './dialect.ts'

export const pastCredentials: MigrationStatements = (dialect) => [
  `CREATE TABLE past_credentials (
    hash ${dialect.bytes} PRIMARY KEY,
    org integer NOT NULL REFERENCES orgs (key),
    endpoint_id text NOT NULL,
    serial text NOT NULL,
    unenrolled_at ${dialect.bigint} NOT NULL
)${dialect.strict}`,
  'CREATE INDEX past_credentials_age ON past_credentials (unenrolled_at)',
]
