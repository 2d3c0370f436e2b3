// The columns that say what the holder of a key may do: those of the key, and of the person that it may belong to.

import { sql } from 'kysely'
import type { EngineName } from '../engine.ts'

/** The region ids of a key (`k`) or user (`u`) as a JSON list, in one column. */
export const regionList = (
  engine: EngineName,
  table: 'key_regions' | 'user_regions',
  owner: 'key_id' | 'user_id',
  alias: 'k' | 'u',
) => {
  const isOwn = sql`vg.org = ${sql.ref(`${alias}.org`)} and ${sql.ref(`vg.${owner}`)} = ${sql.ref(`${alias}.id`)}`
  const rows = sql`from ${sql.table(table)} vg where ${isOwn}`
  return engine === 'postgres'
    ? sql<string>`(select coalesce(json_agg(vg.region_id), '[]')::text ${rows})`
    : sql<string>`(select json_group_array(vg.region_id) ${rows})`
}

/** For a query with `api_keys as k`, `orgs as o` and, joined on the left, `users as u`. */
export const holderColumns = (engine: EngineName) =>
  [
    sql<number>`o.key`.as('org'),
    sql<string>`o.id`.as('org_id'),
    sql<number>`k.id`.as('id'),
    sql<string>`k.name`.as('name'),
    sql<number>`k.read`.as('read'),
    sql<number>`k.operate`.as('operate'),
    sql<number>`k.write`.as('write'),
    sql<number>`k.manage`.as('manage'),
    sql<number>`k.all_regions`.as('all_regions'),
    regionList(engine, 'key_regions', 'key_id', 'k').as('regions'),
    sql<number | null>`k.expires_at`.as('expires_at'),
    sql<number | null>`k.rate_limit`.as('rate_limit'),
    sql<number | null>`k.user_id`.as('user_id'),
    sql<string | null>`u.email`.as('user_email'),
    sql<string | null>`u.role`.as('user_role'),
    sql<number | null>`u.all_regions`.as('user_all_regions'),
    sql<string | null>`u.state`.as('user_state'),
    sql<number | null>`u.signed_in_at`.as('user_signed_in_at'),
    regionList(engine, 'user_regions', 'user_id', 'u').as('user_regions'),
  ] as const
