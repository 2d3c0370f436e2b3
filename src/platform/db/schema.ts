// The tables as Kysely sees them: the same rows on SQLite and PostgreSQL.
// Times are milliseconds, flags 0 or 1, JSON is text: nothing that the two engines read differently.

import type { Generated } from 'kysely'

export interface Schema {
  settings: { name: string; value: string }
  orgs: { key: Generated<number>; id: string; name: string; created_at: number }
  counters: { org: number; noun: string; last: number }
  audit_heads: { org: number; count: number; mac: Buffer; timestamp: number }
  audit_log: {
    org: number
    seq: number
    timestamp: number
    category: string
    type: string
    actor_type: string
    actor_id: string
    actor_name: string
    target_type: string
    target_id: string
    target_name: string
    details: string
    request_id: string | null
    ip: string | null
    mac: Buffer
  }
  api_keys: {
    org: number
    id: number
    version: number
    name: string
    prefix: string
    read: number
    write: number
    manage: number
    rate_limit: number | null
    created_at: number
    expires_at: number | null
    last_used_at: number | null
  }
  key_directory: { hash: Buffer; org: number; key_id: number }
  regions: { org: number; id: number; version: number; name: string }
  locations: { org: number; id: number; version: number; name: string; region_id: number | null }
  profiles: {
    org: number
    id: number
    version: number
    name: string
    description: string | null
    config_id: number
    config: string
    secrets: string
  }
  rooms: {
    org: number
    id: number
    version: number
    name: string
    location_id: number | null
    profile_id: number | null
    dec_sealed: Buffer
    dec_used_at: number | null
    dec_timeout: number
  }
  dec_directory: { mac: Buffer; org: number; room_id: number }
  room_notes: {
    org: number
    id: number
    room_id: number
    version: number
    note: string
    author: string
    created_at: number
  }
  users: { org: number; id: number; version: number; email: string; email_key: string; role: string }
  user_regions: { org: number; user_id: number; region_id: number }
  endpoints: {
    org: number
    id: string
    version: number
    serial: string
    pairing_serial: string | null
    model: string
    room_id: number | null
    profile_id: number | null
    connected: number
    connection_time: number | null
    enrolment_time: number
    status: string
  }
}
