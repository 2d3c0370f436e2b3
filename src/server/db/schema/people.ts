// The tables of people, keys, sessions and sign-in, as Kysely types.

import type { Generated } from 'kysely'

export interface PeopleSchema {
  api_keys: {
    org: number
    id: number
    version: number
    name: string
    prefix: string
    read: number
    /** 1 also for a key with Write, which contains operate. */
    operate: number
    write: number
    manage: number
    rate_limit: number | null
    created_at: number
    expires_at: number | null
    last_used_at: number | null
    /** 0 if the key is limited to the regions in key_regions. */
    all_regions: Generated<number>
    /** Set if the key belongs to a person. */
    user_id: number | null
  }
  key_regions: { org: number; key_id: number; region_id: number }
  key_directory: { hash: Buffer; org: number; key_id: number }
  sessions: { hash: Buffer; org: number; key_id: number; created_at: number; used_at: number }
  login_links: { hash: Buffer; org: number; key_id: number; expires_at: number }
  users: {
    org: number
    id: number
    version: number
    email: string
    email_key: string
    role: string
    name: string | null
    all_regions: Generated<number>
    state: Generated<string>
    /** When usersInvite or usersCreate allowed this user to sign in by e-mail; null for users of version 0.1. */
    invited_at: number | null
    signed_in_at: number | null
    last_seen_at: number | null
  }
  user_regions: { org: number; user_id: number; region_id: number }
  user_identities: { org: number; issuer: string; subject: string; user_id: number; linked_at: number }
  passkeys: {
    id: string
    org: number
    user_id: number
    /** Its number in the organisation, which people see instead of the id. */
    number: number
    name: string
    public_key: Buffer
    counter: number
    transports: string
    created_at: number
    used_at: number | null
  }
  user_sessions: {
    hash: Buffer
    org: number
    user_id: number
    id: number
    via: string
    created_at: number
    used_at: number
    /** The latest end of a session that an identity provider vouched for; null for others. */
    expires_at: number | null
    ip: string | null
    browser: string | null
    oidc_sid: string | null
    /** Sealed. */
    refresh_token: Buffer | null
    /** When the identity provider was last asked about the session. */
    checked_at: number | null
  }
  /** Links that sign a person in. A link of the first owner has no user yet. */
  user_links: { hash: Buffer; org: number; user_id: number | null; purpose: string; expires_at: number }
  passkey_challenges: {
    challenge: string
    purpose: string
    org: number | null
    user_id: number | null
    expires_at: number
  }
  /** The settings as JSON, without the client secret, which is sealed. `tested_settings` is the hash of those that were tested. */
  identity_providers: {
    org: number
    version: number
    settings: string
    client_secret: Buffer | null
    tested_settings: string | null
    tested_at: number | null
  }
  /** Filters, order and columns of a list under a name. A shared one has neither a person nor a key. */
  saved_views: {
    org: number
    id: number
    version: number
    user_id: number | null
    key_id: number | null
    name: string
    page: string
    query: string
    /** A JSON list; null if the width of the window decides. */
    columns: string | null
    author_type: string
    author_id: string
    author_name: string
  }
  sign_in_refusals: { org: number; identity: string; refused_at: number }
}
