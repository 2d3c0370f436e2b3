// People who sign in: roles and regions of users, their sessions, links, passkeys and identities, and the places of audit entries.
import type { MigrationStatements } from './dialect.ts'

export const people: MigrationStatements = (dialect) => [
  // The first version allowed two roles only. Both databases can replace a column with its check, and SQLite nothing less.
  'ALTER TABLE users RENAME COLUMN role TO old_role',
  `ALTER TABLE users ADD COLUMN role text NOT NULL DEFAULT 'viewer' CHECK (role IN ('owner', 'admin', 'operator', 'viewer'))`,
  'UPDATE users SET role = old_role',
  'ALTER TABLE users DROP COLUMN old_role',
  // Users that exist already may not sign in before an owner invites them, and see no region.
  'ALTER TABLE users ADD COLUMN name text',
  'ALTER TABLE users ADD COLUMN all_regions integer NOT NULL DEFAULT 0',
  `ALTER TABLE users ADD COLUMN state text NOT NULL DEFAULT 'INVITED'`,
  // When usersInvite, or usersCreate, allowed this user to sign in by e-mail; null for users of version 0.1.
  `ALTER TABLE users ADD COLUMN invited_at ${dialect.bigint}`,
  `ALTER TABLE users ADD COLUMN signed_in_at ${dialect.bigint}`,
  `ALTER TABLE users ADD COLUMN last_seen_at ${dialect.bigint}`,
  `CREATE TABLE user_identities (
    org integer NOT NULL,
    issuer text NOT NULL,
    subject text NOT NULL,
    user_id integer NOT NULL,
    linked_at ${dialect.bigint} NOT NULL,
    PRIMARY KEY (org, issuer, subject),
    FOREIGN KEY (org, user_id) REFERENCES users (org, id) ON DELETE CASCADE
)${dialect.strictWithoutRowId}`,
  'CREATE UNIQUE INDEX user_identities_user ON user_identities (org, user_id)',
  // The id of a passkey is chosen by its authenticator: it finds the organisation and the user.
  `CREATE TABLE passkeys (
    id text PRIMARY KEY,
    org integer NOT NULL,
    user_id integer NOT NULL,
    number integer NOT NULL,
    name text NOT NULL,
    public_key ${dialect.bytes} NOT NULL,
    counter ${dialect.bigint} NOT NULL,
    transports text NOT NULL,
    created_at ${dialect.bigint} NOT NULL,
    used_at ${dialect.bigint},
    FOREIGN KEY (org, user_id) REFERENCES users (org, id) ON DELETE CASCADE
)${dialect.strict}`,
  'CREATE INDEX passkeys_user ON passkeys (org, user_id)',
  `CREATE TABLE user_sessions (
    hash ${dialect.bytes} PRIMARY KEY,
    org integer NOT NULL,
    user_id integer NOT NULL,
    id integer NOT NULL,
    via text NOT NULL,
    created_at ${dialect.bigint} NOT NULL,
    used_at ${dialect.bigint} NOT NULL,
    expires_at ${dialect.bigint},
    ip text,
    browser text,
    oidc_sid text,
    refresh_token ${dialect.bytes},
    checked_at ${dialect.bigint},
    FOREIGN KEY (org, user_id) REFERENCES users (org, id) ON DELETE CASCADE
)${dialect.strict}`,
  'CREATE INDEX user_sessions_user ON user_sessions (org, user_id, used_at)',
  'CREATE INDEX user_sessions_used ON user_sessions (used_at)',
  'CREATE INDEX user_sessions_sid ON user_sessions (org, oidc_sid)',
  // A link of the first owner belongs to no user yet: its user is null.
  `CREATE TABLE user_links (
    hash ${dialect.bytes} PRIMARY KEY,
    org integer NOT NULL,
    user_id integer,
    purpose text NOT NULL,
    expires_at ${dialect.bigint} NOT NULL,
    FOREIGN KEY (org) REFERENCES orgs (key),
    FOREIGN KEY (org, user_id) REFERENCES users (org, id) ON DELETE CASCADE
)${dialect.strict}`,
  'CREATE INDEX user_links_user ON user_links (org, user_id)',
  'CREATE INDEX user_links_expiry ON user_links (expires_at)',
  // The challenges that passkeys have answered, until they end: each works once. A challenge that was not answered is stored nowhere.
  `CREATE TABLE passkey_challenges (
    challenge text PRIMARY KEY,
    purpose text NOT NULL,
    org integer,
    user_id integer,
    expires_at ${dialect.bigint} NOT NULL
)${dialect.strict}`,
  'CREATE INDEX passkey_challenges_expiry ON passkey_challenges (expires_at)',
  `CREATE TABLE identity_providers (
    org integer PRIMARY KEY REFERENCES orgs (key),
    version integer NOT NULL,
    settings text NOT NULL,
    client_secret ${dialect.bytes},
    tested_settings text,
    tested_at ${dialect.bigint}
)${dialect.strict}`,
  // When a refused sign-in of an identity was last written to the audit log.
  `CREATE TABLE sign_in_refusals (
    org integer NOT NULL REFERENCES orgs (key),
    identity text NOT NULL,
    refused_at ${dialect.bigint} NOT NULL,
    PRIMARY KEY (org, identity)
)${dialect.strictWithoutRowId}`,
  // Write contains operate, so a key with Write has both. The check that a key has Read or Write becomes one for Read or operate.
  'ALTER TABLE api_keys RENAME COLUMN write TO operate',
  'ALTER TABLE api_keys ADD COLUMN write integer NOT NULL DEFAULT 0 CHECK (write IN (0, 1) AND write <= operate)',
  'UPDATE api_keys SET write = operate',
  'ALTER TABLE api_keys ADD COLUMN all_regions integer NOT NULL DEFAULT 1',
  // The person that a personal key belongs to. Deleting a user deletes their keys in the same transaction.
  'ALTER TABLE api_keys ADD COLUMN user_id integer',
  `CREATE TABLE key_regions (
    org integer NOT NULL,
    key_id integer NOT NULL,
    region_id integer NOT NULL,
    PRIMARY KEY (org, key_id, region_id),
    FOREIGN KEY (org, key_id) REFERENCES api_keys (org, id) ON DELETE CASCADE,
    FOREIGN KEY (org, region_id) REFERENCES regions (org, id) ON DELETE CASCADE
)${dialect.strictWithoutRowId}`,
  'CREATE INDEX key_regions_region ON key_regions (org, region_id)',
  // The regions of everything that an entry names, as JSON; null for entries of version 0.1.
  'ALTER TABLE audit_log ADD COLUMN regions text',
]
