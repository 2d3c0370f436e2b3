// Holds the SQL of the identities with which users sign in at a provider, and of the users that they lead to. [contract 11.oidc]

import { sql } from 'kysely'
import type { Tx } from '../../db/handles.ts'
import { wholeQueryExists, wholeQueryOne, write } from '../../db/queries/query.ts'
import { updateRegionsOfUser } from './store.ts'

const columns = ['u.id', 'u.email', 'u.role', 'u.state', 'u.all_regions', 'u.invited_at'] as const

export const findUserByIdentity = wholeQueryOne((db, p: { org: number; issuer: string; subject: string }) =>
  db
    .selectFrom('user_identities as i')
    .innerJoin('users as u', (j) => j.onRef('u.org', '=', 'i.org').onRef('u.id', '=', 'i.user_id'))
    .select(columns)
    .where('i.org', '=', p.org)
    .where('i.issuer', '=', p.issuer)
    .where('i.subject', '=', p.subject),
)

export const hasIdentity = wholeQueryExists((db, p: { org: number; user: number }) =>
  db.selectFrom('user_identities').select('user_id').where('org', '=', p.org).where('user_id', '=', p.user),
)

export const findIdentityOfUser = wholeQueryOne((db, p: { org: number; user: number }) =>
  db
    .selectFrom('user_identities as i')
    .innerJoin('users as u', (j) => j.onRef('u.org', '=', 'i.org').onRef('u.id', '=', 'i.user_id'))
    .select(['i.issuer', 'i.subject', 'u.email'])
    .where('i.org', '=', p.org)
    .where('i.user_id', '=', p.user),
)

export const insertIdentity = write(
  (db, p: { org: number; issuer: string; subject: string; user: number; at: number }) =>
    db
      .insertInto('user_identities')
      .values({ org: p.org, issuer: p.issuer, subject: p.subject, user_id: p.user, linked_at: p.at }),
)

const deleteRows = write((db, p: { org: number }) => db.deleteFrom('user_identities').where('org', '=', p.org))
/** Owners keep their state: no e-mail address is ever linked to an owner, so they need a sign-in link in any state. */
const updateUsersWithIdentity = write((db, p: { org: number; passkeys: number }) => {
  const hasNoWayIn = sql`role <> 'owner' and (${p.passkeys} = 0 or not exists (select 1 from passkeys k
    where k.org = users.org and k.user_id = users.id))`
  return db
    .updateTable('users')
    .set((e) => ({
      state: sql<string>`case when state = 'ACTIVE' and ${hasNoWayIn} then 'INVITED' else state end`,
      signed_in_at: sql<number | null>`case when ${hasNoWayIn} then null else signed_in_at end`,
      version: e('version', '+', 1),
    }))
    .where('org', '=', p.org)
    .where('id', 'in', (e) => e.selectFrom('user_identities').select('user_id').where('org', '=', p.org))
    .returning(['id', 'email', 'state'])
})
/**
 * Removes the identities of all users of the organisation: another provider knows none of them yet. Returns the users who had no other way to
 * sign in. They are INVITED again, so that an account of the new provider can lead to them.
 */
export async function deleteIdentitiesAndReinvite(tx: Tx, { passkeys }: { passkeys: boolean }) {
  const users = await updateUsersWithIdentity(tx, { passkeys: passkeys ? 1 : 0 })
  await deleteRows(tx)
  return users.filter(({ state }) => state === 'INVITED').sort((a, b) => a.id - b.id)
}

const updateRow = write((db, p: { org: number; id: number; role: string; all_regions: number }) =>
  db
    .updateTable('users')
    .set((e) => ({ role: p.role, all_regions: p.all_regions, version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)
export async function updateUserByGroup(
  tx: Tx,
  { regionIds, ...user }: { id: number; role: string; all_regions: number; regionIds: readonly number[] },
): Promise<void> {
  await updateRow(tx, user)
  await updateRegionsOfUser(tx, user.id, regionIds)
}
