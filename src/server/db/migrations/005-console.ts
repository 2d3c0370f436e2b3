// The console: sessions of browsers, and links to sign in with. Both are found by the hash of their secret.

export const consoleSessions = [
  `CREATE TABLE sessions (
    hash bytea PRIMARY KEY,
    org integer NOT NULL,
    key_id integer NOT NULL,
    created_at bigint NOT NULL,
    used_at bigint NOT NULL,
    FOREIGN KEY (org, key_id) REFERENCES api_keys (org, id) ON DELETE CASCADE
)`,
  'CREATE INDEX sessions_key ON sessions (org, key_id, used_at)',
  'CREATE INDEX sessions_used ON sessions (used_at)',
  `CREATE TABLE login_links (
    hash bytea PRIMARY KEY,
    org integer NOT NULL,
    key_id integer NOT NULL,
    expires_at bigint NOT NULL,
    FOREIGN KEY (org, key_id) REFERENCES api_keys (org, id) ON DELETE CASCADE
)`,
  'CREATE INDEX login_links_key ON login_links (org, key_id)',
  'CREATE INDEX login_links_expiry ON login_links (expires_at)',
]
