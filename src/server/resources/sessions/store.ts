// SQL of the console's sessions and sign-in links.
import type { Insertable } from 'kysely'
import { type KeyHolder, keyHolderOf } from '../../auth/keyring.ts'
import type { Reader, TelemetryTx, Tx } from '../../db/db.ts'
import { query, queryOne } from '../../db/query.ts'
import type { DatabaseSchema } from '../../db/schema.ts'

const byHash = queryOne((db, p: { hash: Buffer }) =>
  db
    .selectFrom('sessions as s')
    .innerJoin('api_keys as k', (j) => j.onRef('k.org', '=', 's.org').onRef('k.id', '=', 's.key_id'))
    .innerJoin('orgs as o', 'o.key', 's.org')
    .select(['o.key as org', 'o.id as org_id', 'k.id', 'k.name', 'k.read', 'k.write', 'k.manage'])
    .select(['k.expires_at', 'k.rate_limit', 's.used_at'])
    .where('s.hash', '=', p.hash),
)
/** Whom a session stands for. */
export async function findSessionHolder(on: Reader, hash: Buffer): Promise<KeyHolder | undefined> {
  const row = await byHash(on, { hash })
  return row && { ...keyHolderOf(row), session: { hash, usedAt: row.used_at } }
}

const insert = query((db, p: Insertable<DatabaseSchema['sessions']>) =>
  db.insertInto('sessions').values({
    hash: p.hash,
    org: p.org,
    key_id: p.key_id,
    created_at: p.created_at,
    used_at: p.used_at,
  }),
)
export const insertSession = (tx: Tx, session: Insertable<DatabaseSchema['sessions']>) => insert(tx, session)

const surplus = query((db, p: { org: number; key: number; most: number }, engine) =>
  db.deleteFrom('sessions').where('hash', 'in', (q) => {
    const oldest = q
      .selectFrom('sessions')
      .select('hash')
      .where('org', '=', p.org)
      .where('key_id', '=', p.key)
      .orderBy('used_at', 'desc')
      .orderBy('hash')
      .offset(p.most)
    // SQLite knows no offset without a limit.
    return engine === 'sqlite' ? oldest.limit(-1) : oldest
  }),
)
/** Leaves a key the sessions that were used last. */
export const deleteSurplus = (tx: Tx, org: number, key: number, most: number) => surplus(tx, { org, key, most })

const remove = queryOne((db, p: { hash: Buffer }) =>
  db.deleteFrom('sessions').where('hash', '=', p.hash).returning('key_id'),
)
export const deleteSession = async (tx: Tx, hash: Buffer) => (await remove(tx, { hash })) !== undefined

const used = query((db, p: { hash: Buffer; at: number }) =>
  db.updateTable('sessions').set({ used_at: p.at }).where('hash', '=', p.hash),
)
export const updateUsed = (telemetry: TelemetryTx, hash: Buffer, at: number) => used(telemetry, { hash, at })

const unused = query((db, p: { before: number }) => db.deleteFrom('sessions').where('used_at', '<', p.before))
export const deleteUnused = (telemetry: TelemetryTx, before: number) => unused(telemetry, { before })

const linkByHash = queryOne((db, p: { hash: Buffer; now: number }) =>
  db
    .selectFrom('login_links as l')
    .innerJoin('api_keys as k', (j) => j.onRef('k.org', '=', 'l.org').onRef('k.id', '=', 'l.key_id'))
    .innerJoin('orgs as o', 'o.key', 'l.org')
    .select(['o.key as org', 'o.id as org_id', 'k.id', 'k.name', 'k.read', 'k.write', 'k.manage'])
    .select(['k.expires_at', 'k.rate_limit'])
    .where('l.hash', '=', p.hash)
    .where('l.expires_at', '>', p.now)
    .where((e) => e.or([e('k.expires_at', 'is', null), e('k.expires_at', '>', p.now)])),
)
/** Whom a link lets in; nobody, when it or its key has expired. */
export async function findLinkHolder(on: Reader, hash: Buffer, now: number): Promise<KeyHolder | undefined> {
  const row = await linkByHash(on, { hash, now })
  return row && keyHolderOf(row)
}

const insertOne = query((db, p: Insertable<DatabaseSchema['login_links']>) =>
  db.insertInto('login_links').values({ hash: p.hash, org: p.org, key_id: p.key_id, expires_at: p.expires_at }),
)
export const insertLink = (tx: Tx, link: Insertable<DatabaseSchema['login_links']>) => insertOne(tx, link)

const take = queryOne((db, p: { hash: Buffer }) =>
  db.deleteFrom('login_links').where('hash', '=', p.hash).returning('key_id'),
)
/** True for one of all who try: it is gone then. */
export const deleteLink = async (tx: Tx, hash: Buffer) => (await take(tx, { hash })) !== undefined

const expired = query((db, p: { now: number }) => db.deleteFrom('login_links').where('expires_at', '<=', p.now))
export const deleteExpiredLinks = (telemetry: TelemetryTx, now: number) => expired(telemetry, { now })
