// Holds the SQL of the console's sessions and sign-in links.

import type { Insertable } from 'kysely'
import { type KeyHolder, keyHolderOf } from '../../auth/token-holder.ts'
import { holderColumns } from '../../db/queries/holder-columns.ts'
import { write, writeExists } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { type SystemReader, systemQueryOne, systemWrite } from '../../db/system.ts'

const selectSessionHolder = systemQueryOne((db, p: { hash: Buffer }, engine) =>
  db
    .selectFrom('sessions as s')
    .innerJoin('api_keys as k', (j) => j.onRef('k.org', '=', 's.org').onRef('k.id', '=', 's.key_id'))
    .innerJoin('orgs as o', 'o.key', 's.org')
    .leftJoin('users as u', (j) => j.onRef('u.org', '=', 'k.org').onRef('u.id', '=', 'k.user_id'))
    .select(holderColumns(engine))
    .select('s.used_at')
    .where('s.hash', '=', p.hash),
)
/** Finds the key that a session acts for. */
export async function findSessionHolder(on: SystemReader, hash: Buffer): Promise<KeyHolder | undefined> {
  const row = await selectSessionHolder(on, { hash })
  return row && { ...keyHolderOf(row), session: { hash, usedAt: row.used_at } }
}

export const insertSession = write((db, p: Insertable<DatabaseSchema['sessions']>) =>
  db.insertInto('sessions').values({
    hash: p.hash,
    org: p.org,
    key_id: p.key_id,
    created_at: p.created_at,
    used_at: p.used_at,
  }),
)

/** Deletes all but the `max` most recently used sessions of a key. */
export const deleteSurplusSessions = write((db, p: { org: number; key: number; max: number }, engine) =>
  db.deleteFrom('sessions').where('hash', 'in', (q) => {
    const oldest = q
      .selectFrom('sessions')
      .select('hash')
      .where('org', '=', p.org)
      .where('key_id', '=', p.key)
      .orderBy('used_at', 'desc')
      .orderBy('hash')
      .offset(p.max)
    // SQLite has no OFFSET without a LIMIT.
    return engine === 'sqlite' ? oldest.limit(-1) : oldest
  }),
)

export const deleteSession = writeExists((db, p: { org: number; hash: Buffer }) =>
  db.deleteFrom('sessions').where('org', '=', p.org).where('hash', '=', p.hash).returning('key_id'),
)

/** Ends the sessions that were opened with personal keys of a user. */
export const deleteSessionsOfPersonalKeys = write((db, p: { org: number; user: number }) =>
  db
    .deleteFrom('sessions')
    .where('org', '=', p.org)
    .where('key_id', 'in', (q) =>
      q.selectFrom('api_keys').select('id').where('org', '=', p.org).where('user_id', '=', p.user),
    )
    .returning('key_id'),
)

/** Another node may have written a later use: a time never goes back. */
export const updateSessionUsed = systemWrite((db, p: { hash: Buffer; at: number }) =>
  db.updateTable('sessions').set({ used_at: p.at }).where('hash', '=', p.hash).where('used_at', '<', p.at),
)

export const deleteUnusedSessions = systemWrite((db, p: { before: number }) =>
  db.deleteFrom('sessions').where('used_at', '<', p.before),
)

const selectLinkHolder = systemQueryOne((db, p: { hash: Buffer; now: number }, engine) =>
  db
    .selectFrom('login_links as l')
    .innerJoin('api_keys as k', (j) => j.onRef('k.org', '=', 'l.org').onRef('k.id', '=', 'l.key_id'))
    .innerJoin('orgs as o', 'o.key', 'l.org')
    .leftJoin('users as u', (j) => j.onRef('u.org', '=', 'k.org').onRef('u.id', '=', 'k.user_id'))
    .select(holderColumns(engine))
    .where('l.hash', '=', p.hash)
    .where('l.expires_at', '>', p.now)
    .where((e) => e.or([e('k.expires_at', 'is', null), e('k.expires_at', '>', p.now)])),
)
/** Finds the key that a link signs in with, unless the link or the key has expired. */
export async function findLinkHolder(on: SystemReader, hash: Buffer, now: number): Promise<KeyHolder | undefined> {
  const row = await selectLinkHolder(on, { hash, now })
  return row && keyHolderOf(row)
}

export const insertLink = write((db, p: Insertable<DatabaseSchema['login_links']>) =>
  db.insertInto('login_links').values({ hash: p.hash, org: p.org, key_id: p.key_id, expires_at: p.expires_at }),
)

/** Returns true for one of several concurrent callers: the one that deleted the link. */
export const deleteLink = writeExists((db, p: { org: number; hash: Buffer }) =>
  db.deleteFrom('login_links').where('org', '=', p.org).where('hash', '=', p.hash).returning('key_id'),
)

export const deleteExpiredLinks = systemWrite((db, p: { now: number }) =>
  db.deleteFrom('login_links').where('expires_at', '<=', p.now),
)
