// Holds the SQL of the sessions of people. [contract 11.local]

import type { Insertable } from 'kysely'
import { type TokenHolder, userFieldsOf } from '../../auth/token-holder.ts'
import { regionList } from '../../db/queries/holder-columns.ts'
import { query, queryExists, wholeQueryOne, write, writeExists, writeOne } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { type SystemReader, systemQueryOne, systemWrite } from '../../db/system.ts'

const selectUserSessionHolder = systemQueryOne((db, p: { hash: Buffer }, engine) =>
  db
    .selectFrom('user_sessions as s')
    .innerJoin('users as u', (j) => j.onRef('u.org', '=', 's.org').onRef('u.id', '=', 's.user_id'))
    .innerJoin('orgs as o', 'o.key', 's.org')
    .select(['o.key as org', 'o.id as org_id', 'u.id', 'u.email', 'u.role', 'u.all_regions'])
    .select([
      's.used_at',
      's.expires_at',
      's.checked_at',
      regionList(engine, 'user_regions', 'user_id', 'u').as('regions'),
    ])
    .where('s.hash', '=', p.hash)
    .where('u.state', '=', 'ACTIVE'),
)
/** Finds the person that a session acts for, unless the person is disabled. */
export async function findUserSessionHolder(on: SystemReader, hash: Buffer): Promise<TokenHolder | undefined> {
  const row = await selectUserSessionHolder(on, { hash })
  if (!row) return undefined
  return {
    org: { key: row.org, id: row.org_id },
    ...userFieldsOf(row),
    expiresAt: row.expires_at,
    rateLimit: null,
    key: undefined,
    session: { hash, usedAt: row.used_at, checkedAt: row.checked_at },
  }
}

export const insertUserSession = write((db, p: Insertable<DatabaseSchema['user_sessions']>) =>
  db.insertInto('user_sessions').values({
    hash: p.hash,
    org: p.org,
    user_id: p.user_id,
    id: p.id,
    via: p.via,
    created_at: p.created_at,
    used_at: p.used_at,
    expires_at: p.expires_at,
    ip: p.ip,
    browser: p.browser,
    oidc_sid: p.oidc_sid,
    refresh_token: p.refresh_token,
    checked_at: p.checked_at,
  }),
)

export const deleteUserSessionByHash = writeExists((db, p: { org: number; hash: Buffer }) =>
  db.deleteFrom('user_sessions').where('org', '=', p.org).where('hash', '=', p.hash).returning('id'),
)

/** Returns whether the session has not been ended. */
export const hasUserSession = queryExists((db, p: { org: number; hash: Buffer }) =>
  db.selectFrom('user_sessions').select('id').where('org', '=', p.org).where('hash', '=', p.hash),
)

/** Signs a person out everywhere, and returns the sessions that ended. */
export const deleteUserSessions = write((db, p: { org: number; user: number }) =>
  db.deleteFrom('user_sessions').where('org', '=', p.org).where('user_id', '=', p.user).returning('id'),
)

export const listSessionsOfUser = query((db, p: { org: number; user: number }) =>
  db
    .selectFrom('user_sessions')
    .select(['hash', 'id', 'via', 'created_at', 'used_at', 'expires_at', 'ip', 'browser'])
    .where('org', '=', p.org)
    .where('user_id', '=', p.user)
    .orderBy('used_at', 'desc'),
)

/** Deletes all but the `max` most recently used sessions of a person. */
export const deleteSurplusUserSessions = write((db, p: { org: number; user: number; max: number }, engine) =>
  db.deleteFrom('user_sessions').where('hash', 'in', (q) => {
    const oldest = q
      .selectFrom('user_sessions')
      .select('hash')
      .where('org', '=', p.org)
      .where('user_id', '=', p.user)
      .orderBy('used_at', 'desc')
      .orderBy('hash')
      .offset(p.max)
    // SQLite has no OFFSET without a LIMIT.
    return engine === 'sqlite' ? oldest.limit(-1) : oldest
  }),
)

export const deleteUserSessionById = writeOne((db, p: { org: number; user: number; id: number }) =>
  db
    .deleteFrom('user_sessions')
    .where('org', '=', p.org)
    .where('user_id', '=', p.user)
    .where('id', '=', p.id)
    .returning('id'),
)

export const findUserName = wholeQueryOne((db, p: { org: number; user: number }) =>
  db.selectFrom('users').select('name').where('org', '=', p.org).where('id', '=', p.user),
)

/** Another node may have written a later use: a time never goes back. */
export const updateUserSessionUsed = systemWrite((db, p: { hash: Buffer; at: number }) =>
  db.updateTable('user_sessions').set({ used_at: p.at }).where('hash', '=', p.hash).where('used_at', '<', p.at),
)

export const deleteUnusedUserSessions = systemWrite((db, p: { before: number; now: number }) =>
  db.deleteFrom('user_sessions').where((e) => e.or([e('used_at', '<', p.before), e('expires_at', '<=', p.now)])),
)

/** Counts the sessions of all organisations that have not ended. */
export const countUserSessions = systemQueryOne((db, p: { usedAfter: number; now: number }) =>
  db
    .selectFrom('user_sessions')
    .select((e) => e.fn.countAll().as('count'))
    .where('used_at', '>', p.usedAfter)
    .where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', p.now)])),
)
