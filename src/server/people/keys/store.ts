// Holds the SQL of API keys and of the directory that finds them by their hash.

import { type Selectable, sql } from 'kysely'
import { type KeyHolder, keyHolderOf } from '../../auth/token-holder.ts'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { holderColumns, regionList } from '../../db/queries/holder-columns.ts'
import { query, queryOne, write } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { type SystemReader, type SystemTx, systemQueryExists, systemQueryOne, systemWrite } from '../../db/system.ts'

/** A key with the ids of the regions that it is limited to, as a JSON list. */
export type KeyRow = Selectable<DatabaseSchema['api_keys']> & { readonly regions: string }

const selectHolder = systemQueryOne((db, p: { hash: Buffer }, engine) =>
  db
    .selectFrom('key_directory as d')
    .innerJoin('api_keys as k', (j) => j.onRef('k.org', '=', 'd.org').onRef('k.id', '=', 'd.key_id'))
    .innerJoin('orgs as o', 'o.key', 'd.org')
    .leftJoin('users as u', (j) => j.onRef('u.org', '=', 'k.org').onRef('u.id', '=', 'k.user_id'))
    .select(holderColumns(engine))
    .where('d.hash', '=', p.hash),
)
export async function findHolder(on: SystemReader, hash: Buffer): Promise<KeyHolder | undefined> {
  const row = await selectHolder(on, { hash })
  return row && keyHolderOf(row)
}

export const hasKey = systemQueryExists((db, _: object) => db.selectFrom('key_directory').select('key_id').limit(1))

export const listKeys = query((db, p: { org: number }, engine) =>
  db
    .selectFrom('api_keys as k')
    .selectAll('k')
    .select(regionList(engine, 'key_regions', 'key_id', 'k').as('regions'))
    .where('org', '=', p.org)
    .orderBy('id'),
)

export const findKey = queryOne((db, p: { org: number; id: number }, engine) =>
  db
    .selectFrom('api_keys as k')
    .selectAll('k')
    .select(regionList(engine, 'key_regions', 'key_id', 'k').as('regions'))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

/** The personal keys of a user. */
export const listKeysOfUser = query((db, p: { org: number; user: number }) =>
  db
    .selectFrom('api_keys')
    .selectAll()
    .select(sql<string>`'[]'`.as('regions'))
    .where('org', '=', p.org)
    .where('user_id', '=', p.user)
    .orderBy('id'),
)

const selectOtherManager = queryOne((db, p: { org: number; id: number; now: number; write: number }) =>
  db
    .selectFrom('api_keys')
    .select('id')
    .where('org', '=', p.org)
    .where('manage', '=', 1)
    .where('user_id', 'is', null)
    .where('id', '!=', p.id)
    .where('write', '>=', p.write)
    .where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', p.now)]))
    .limit(1),
)
/** Managing needs the scope write too, so a key without write does not replace one that has it. Nor does a personal key, which ends with its person. [contract D.20] */
export const hasOtherManager = async (on: OrgReader, { id, write }: KeyRow, now: number) =>
  (await selectOtherManager(on, { id, now, write })) !== undefined

const insertRow = write((db, p: KeyRow) =>
  db.insertInto('api_keys').values({
    org: p.org,
    id: p.id,
    version: p.version,
    name: p.name,
    prefix: p.prefix,
    read: p.read,
    write: p.write,
    manage: p.manage,
    rate_limit: p.rate_limit,
    created_at: p.created_at,
    expires_at: p.expires_at,
    last_used_at: p.last_used_at,
    operate: p.operate,
    all_regions: p.all_regions,
    user_id: p.user_id,
  }),
)
const insertDirectoryEntry = write((db, p: { org: number; id: number; hash: Buffer }) =>
  db.insertInto('key_directory').values({ org: p.org, key_id: p.id, hash: p.hash }),
)
const insertKeyRegion = write((db, p: { org: number; id: number; region: number }) =>
  db.insertInto('key_regions').values({ org: p.org, key_id: p.id, region_id: p.region }),
)
export async function insertKey(tx: Tx, key: Omit<KeyRow, 'org'>, hash: Buffer, regions: readonly number[]) {
  await insertRow(tx, key)
  await insertDirectoryEntry(tx, { id: key.id, hash })
  for (const region of regions) await insertKeyRegion(tx, { id: key.id, region })
}

/** Takes a region from the keys that are limited to it, and returns those keys for the audit entry. [contract D.3] */
export const deleteRegionOfKeys = write((db, p: { org: number; region: number }) =>
  db
    .deleteFrom('key_regions')
    .where('org', '=', p.org)
    .where('region_id', '=', p.region)
    .returning([
      'key_id as id',
      sql<string>`(select k.name from api_keys k where k.org = key_regions.org and k.id = key_regions.key_id)`.as(
        'name',
      ),
    ]),
)

/** A personal key ends with its person. */
export const deleteKeysOfUser = write((db, p: { org: number; user: number }) =>
  db.deleteFrom('api_keys').where('org', '=', p.org).where('user_id', '=', p.user).returning(['id', 'name']),
)

/** The foreign key of the directory deletes its entry too. */
export const deleteKey = write((db, p: { org: number; id: number }) =>
  db.deleteFrom('api_keys').where('org', '=', p.org).where('id', '=', p.id),
)

const updateLastUsedOf = systemWrite((db, p: { org: number; id: number; at: number }) =>
  db
    .updateTable('api_keys')
    .set({ last_used_at: p.at })
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where((e) => e.or([e('last_used_at', 'is', null), e('last_used_at', '<', p.at)])),
)
/** Another node may have written a later use: a time never goes back. */
export async function updateLastUsed(tx: SystemTx, uses: Iterable<{ org: number; keyId: number; at: number }>) {
  for (const { org, keyId, at } of uses) await updateLastUsedOf(tx, { org, id: keyId, at })
}
