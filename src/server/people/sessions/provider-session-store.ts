// Holds the SQL of the sessions of people that an identity provider vouched for. [contract 11.oidc]

import { write } from '../../db/queries/query.ts'
import { systemWrite, systemWriteOne } from '../../db/system.ts'

/** Ends all sessions of the organisation that came from its provider. */
export const deleteProviderSessions = write((db, p: { org: number }) =>
  db.deleteFrom('user_sessions').where('org', '=', p.org).where('via', '=', 'oidc').returning('id'),
)

/** The provider names its session in the tokens of the sign-in, and again when it ends. */
export const deleteSessionsBySid = write((db, p: { org: number; sid: string }) =>
  db.deleteFrom('user_sessions').where('org', '=', p.org).where('oidc_sid', '=', p.sid).returning(['id', 'user_id']),
)

const deleteOfUser = (isWithoutSid: boolean) =>
  write((db, p: { org: number; user: number }) =>
    db
      .deleteFrom('user_sessions')
      .where('org', '=', p.org)
      .where('user_id', '=', p.user)
      .where('via', '=', 'oidc')
      .$if(isWithoutSid, (q) => q.where('oidc_sid', 'is', null))
      .returning(['id', 'user_id']),
  )
export const deleteProviderSessionsOfUser = deleteOfUser(false)
/** Deletes the sessions of a user whose ID token had no `sid`. */
export const deleteSessionsWithoutSid = deleteOfUser(true)

/** One of several nodes gets the refresh token, because a provider may accept it only once. */
export const claimCheck = systemWriteOne((db, p: { hash: Buffer; checkedAt: number; claimedAt: number }) =>
  db
    .updateTable('user_sessions')
    .set({ checked_at: p.claimedAt })
    .where('hash', '=', p.hash)
    .where('checked_at', '=', p.checkedAt)
    .returning('refresh_token'),
)

export const updateRefreshToken = systemWrite((db, p: { hash: Buffer; token: Buffer }) =>
  db.updateTable('user_sessions').set({ refresh_token: p.token }).where('hash', '=', p.hash),
)

/** Does nothing if another node has claimed the check since. */
export const updateCheckedAt = systemWrite((db, p: { hash: Buffer; claimedAt: number; at: number }) =>
  db
    .updateTable('user_sessions')
    .set({ checked_at: p.at })
    .where('hash', '=', p.hash)
    .where('checked_at', '=', p.claimedAt),
)
