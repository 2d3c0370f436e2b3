// Holds the SQL of the identities with which users sign in at a provider, and of the users that they lead to. [contract 11.oidc]

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

/** Removes the identities of all users of the organisation: another provider knows nobody yet. */
export const deleteIdentities = write((db, p: { org: number }) =>
  db.deleteFrom('user_identities').where('org', '=', p.org),
)

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
