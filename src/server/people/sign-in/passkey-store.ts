// Holds the SQL of passkeys, and of the challenges that were answered. [contract 11.local]

import type { Insertable } from 'kysely'
import { query, queryOne, writeExists, writeOne } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { systemQueryExists, systemQueryOne, systemWrite } from '../../db/system.ts'

/** Finds a passkey with its person and the settings of the organisation. The id is chosen by the authenticator and knows no organisation. */
export const findPasskey = systemQueryOne((db, p: { id: string }) =>
  db
    .selectFrom('passkeys as k')
    .innerJoin('users as u', (j) => j.onRef('u.org', '=', 'k.org').onRef('u.id', '=', 'k.user_id'))
    .innerJoin('orgs as o', 'o.key', 'k.org')
    .leftJoin('identity_providers as i', 'i.org', 'k.org')
    .select(['k.id', 'k.org', 'o.id as org_id', 'k.public_key', 'k.counter', 'k.transports'])
    .select(['u.id as user_id', 'u.email', 'u.role', 'u.state', 'i.settings'])
    .where('k.id', '=', p.id),
)
export type FoundPasskey = NonNullable<Awaited<ReturnType<typeof findPasskey>>>

export const listPasskeys = query((db, p: { org: number; user: number }) =>
  db
    .selectFrom('passkeys')
    .select(['id', 'number', 'name', 'transports', 'created_at', 'used_at'])
    .where('org', '=', p.org)
    .where('user_id', '=', p.user)
    .orderBy('number'),
)

/** Returns false if the id is taken, here or in another organisation. */
export const insertPasskey = writeExists((db, p: Insertable<DatabaseSchema['passkeys']>) =>
  db
    .insertInto('passkeys')
    .values({
      id: p.id,
      org: p.org,
      user_id: p.user_id,
      number: p.number,
      name: p.name,
      public_key: p.public_key,
      counter: p.counter,
      transports: p.transports,
      created_at: p.created_at,
      used_at: null,
    })
    .onConflict((c) => c.column('id').doNothing())
    .returning('number'),
)

/** Returns false for a passkey that was removed a moment ago, or whose counter did not rise: another device has a copy of it. */
export const updatePasskeyUsed = writeExists((db, p: { org: number; id: string; counter: number; at: number }) =>
  db
    .updateTable('passkeys')
    .set({ counter: p.counter, used_at: p.at })
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    // Authenticators without a counter always send 0.
    .where((e) => e.or([e('counter', '<', p.counter), e.and([e('counter', '=', 0), e(e.val(p.counter), '=', 0)])]))
    .returning('number'),
)

export const deletePasskey = writeOne((db, p: { org: number; user: number; number: number }) =>
  db
    .deleteFrom('passkeys')
    .where('org', '=', p.org)
    .where('user_id', '=', p.user)
    .where('number', '=', p.number)
    .returning(['number', 'name']),
)

export const findPasskeySettings = queryOne((db, p: { org: number }) =>
  db.selectFrom('identity_providers').select('settings').where('org', '=', p.org),
)

/** Returns true for one of several answers to a challenge. */
export const insertAnsweredChallenge = writeExists(
  (db, p: { org: number; challenge: string; purpose: string; user: number; end: number }) =>
    db
      .insertInto('passkey_challenges')
      .values({ challenge: p.challenge, purpose: p.purpose, org: p.org, user_id: p.user, expires_at: p.end })
      .onConflict((c) => c.column('challenge').doNothing())
      .returning('challenge'),
)

export const deleteExpiredChallenges = systemWrite((db, p: { now: number }) =>
  db.deleteFrom('passkey_challenges').where('expires_at', '<=', p.now),
)

export const hasAnyPasskey = systemQueryExists((db, _: object) => db.selectFrom('passkeys').select('id').limit(1))
