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

export const findUserToLink = wholeQueryOne((db, p: { org: number; key: string }) =>
  db.selectFrom('users as u').select(columns).where('u.org', '=', p.org).where('u.email_key', '=', p.key),
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

interface SignInUser {
  readonly id: number
  readonly email: string
  readonly email_key: string
  readonly name: string | null
  readonly role: string
  readonly all_regions: number
}

const insertRow = write((db, p: SignInUser & { org: number; at: number }) =>
  db.insertInto('users').values({
    org: p.org,
    id: p.id,
    version: 1,
    email: p.email,
    email_key: p.email_key,
    name: p.name,
    role: p.role,
    all_regions: p.all_regions,
    state: 'ACTIVE',
    invited_at: p.at,
  }),
)
export async function insertUserOfProvider(
  tx: Tx,
  { regionIds, ...user }: SignInUser & { readonly at: number; readonly regionIds: readonly number[] },
): Promise<void> {
  await insertRow(tx, user)
  await updateRegionsOfUser(tx, user.id, regionIds)
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
