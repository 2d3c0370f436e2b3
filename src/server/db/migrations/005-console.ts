// Tables of the console: browser sessions and sign-in links, both found by the hash of their secret.
import type { MigrationStatements } from './dialect.ts'

export const consoleSessions: MigrationStatements = (dialect) => [
  `CREATE TABLE sessions (
    hash ${dialect.bytes} PRIMARY KEY,
    org integer NOT NULL,
    key_id integer NOT NULL,
    created_at ${dialect.bigint} NOT NULL,
    used_at ${dialect.bigint} NOT NULL,
    FOREIGN KEY (org, key_id) REFERENCES api_keys (org, id) ON DELETE CASCADE
)${dialect.strict}`,
  'CREATE INDEX sessions_key ON sessions (org, key_id, used_at)',
  'CREATE INDEX sessions_used ON sessions (used_at)',
  `CREATE TABLE login_links (
    hash ${dialect.bytes} PRIMARY KEY,
    org integer NOT NULL,
    key_id integer NOT NULL,
    expires_at ${dialect.bigint} NOT NULL,
    FOREIGN KEY (org, key_id) REFERENCES api_keys (org, id) ON DELETE CASCADE
)${dialect.strict}`,
  'CREATE INDEX login_links_key ON login_links (org, key_id)',
  'CREATE INDEX login_links_expiry ON login_links (expires_at)',
]
