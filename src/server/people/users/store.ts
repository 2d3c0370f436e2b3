// Holds the SQL of users and of the regions that they are assigned to.

import { sql } from 'kysely'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { pickColumns } from '../../db/queries/columns.ts'
import {
  visibleQuery,
  visibleQueryOne,
  wholeQueryExists,
  wholeQueryOne,
  write,
  writeExists,
} from '../../db/queries/query.ts'
import { systemQuery, systemWrite } from '../../db/system.ts'
import { type UserValues, userFieldColumns } from './fields.ts'

type UserKey = { org: number; id: number }

export interface UserRow extends Readonly<UserValues> {
  readonly id: number
  readonly version: number
  readonly signed_in_at: number | null
  readonly last_seen_at: number | null
  /** 1 if an account of the identity provider belongs to the user. */
  readonly has_identity: number
  readonly has_passkey: number
}

const hasIdentity = sql<SqlBit>`case when exists (select 1 from user_identities i
  where i.org = users.org and i.user_id = users.id) then 1 else 0 end`
const hasPasskey = sql<SqlBit>`case when exists (select 1 from passkeys p
  where p.org = users.org and p.user_id = users.id) then 1 else 0 end`
type SqlBit = 0 | 1

const userColumns = [
  'id',
  'version',
  ...userFieldColumns,
  'signed_in_at',
  'last_seen_at',
  hasIdentity.as('has_identity'),
  hasPasskey.as('has_passkey'),
] as const

export const listUsers = visibleQuery('user', 'users.id', (db, p: { org: number }) =>
  db.selectFrom('users').select(userColumns).where('org', '=', p.org).orderBy('id'),
)

export const findUser = visibleQueryOne('user', 'users.id', (db, p: UserKey) =>
  db.selectFrom('users').select(userColumns).where('org', '=', p.org).where('id', '=', p.id),
)

export const findUserByEmail = wholeQueryOne((db, p: { org: number; key: string }) =>
  db
    .selectFrom('users')
    .select(['id', 'email', 'role', 'state', 'all_regions', 'invited_at'])
    .where('org', '=', p.org)
    .where('email_key', '=', p.key),
)

/** An owner who was disabled on purpose does not count. */
export const hasOtherOwner = wholeQueryExists((db, p: UserKey) =>
  db
    .selectFrom('users')
    .select('id')
    .where('org', '=', p.org)
    .where('role', '=', 'owner')
    .where('state', '!=', 'DISABLED')
    .where('id', '!=', p.id)
    .limit(1),
)

const selectOwnerWays = wholeQueryOne((db, p: { org: number; except: number }) =>
  db
    .selectFrom('users')
    .select([
      sql<SqlBit | null>`max(${hasIdentity})`.as('identity'),
      sql<SqlBit | null>`max(${hasPasskey})`.as('passkey'),
    ])
    .where('org', '=', p.org)
    .where('role', '=', 'owner')
    .where('state', '=', 'ACTIVE')
    .where('id', '!=', p.except),
)
/** Reads in which ways owners can sign in; with `except`, owners beside that user. Ways that are turned off count too. [contract 11.user] */
export async function findOwnerWays(on: OrgReader, except = 0): Promise<{ identity: boolean; passkey: boolean }> {
  const row = await selectOwnerWays(on, { except })
  return { identity: row?.identity === 1, passkey: row?.passkey === 1 }
}

export const listRegionsOfUsers = visibleQuery('region', 'user_regions.region_id', (db, p: { org: number }) =>
  db
    .selectFrom('user_regions')
    .select(['user_id', 'region_id'])
    .where('org', '=', p.org)
    .orderBy('region_id')
    .orderBy('user_id'),
)

const selectRegionsOfUser = visibleQuery('region', 'user_regions.region_id', (db, p: UserKey) =>
  db
    .selectFrom('user_regions')
    .select('region_id')
    .where('org', '=', p.org)
    .where('user_id', '=', p.id)
    .orderBy('region_id'),
)
export const listRegionsOfUser = async (on: OrgReader, id: number) =>
  (await selectRegionsOfUser(on, { id })).map((r) => r.region_id)

/** The key finds a user by their address, whatever its case. */
const writtenColumns = ['email_key', ...userFieldColumns] as const
type WrittenValues = UserValues & { email_key: string }

export const insertUser = write((db, p: UserKey & WrittenValues & { invited_at: number | null }) =>
  db.insertInto('users').values({
    org: p.org,
    id: p.id,
    version: 1,
    ...pickColumns(p, writtenColumns),
    invited_at: p.invited_at,
  }),
)

export const updateUser = write((db, p: UserKey & WrittenValues) =>
  db
    .updateTable('users')
    .set((e) => ({ ...pickColumns(p, writtenColumns), version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

const deleteRegionsOfUser = write((db, p: UserKey) =>
  db.deleteFrom('user_regions').where('org', '=', p.org).where('user_id', '=', p.id),
)
const insertUserRegion = write((db, p: UserKey & { region: number }) =>
  db.insertInto('user_regions').values({ org: p.org, user_id: p.id, region_id: p.region }),
)
export async function updateRegionsOfUser(tx: Tx, id: number, regions: readonly number[]) {
  await deleteRegionsOfUser(tx, { id })
  for (const region of regions) await insertUserRegion(tx, { id, region })
}

/** Unassigns a region from its users, and returns those users for the audit entry. [contract D.3] */
export const deleteRegionOfUsers = write((db, p: { org: number; region: number }) =>
  db
    .deleteFrom('user_regions')
    .where('org', '=', p.org)
    .where('region_id', '=', p.region)
    .returning([
      'user_id as id',
      sql<string>`(select email from users where users.org = user_regions.org and users.id = user_regions.user_id)`.as(
        'email',
      ),
    ]),
)

export const deleteUser = write((db, p: UserKey) =>
  db.deleteFrom('users').where('org', '=', p.org).where('id', '=', p.id),
)

const deleteIdentity = write((db, p: UserKey) =>
  db.deleteFrom('user_identities').where('org', '=', p.org).where('user_id', '=', p.id),
)
const deletePasskeysOfUser = write((db, p: UserKey) =>
  db.deleteFrom('passkeys').where('org', '=', p.org).where('user_id', '=', p.id),
)
/** A new sign-in link is needed: until then not even the e-mail address leads to the user. */
const updateUnlinked = write((db, p: UserKey) =>
  db
    .updateTable('users')
    .set((e) => ({
      state: sql<string>`case when state = 'DISABLED' then state else 'INVITED' end`,
      invited_at: null,
      signed_in_at: null,
      version: e('version', '+', 1),
    }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)
/** Removes every way to sign in that the user has set up. */
export async function unlinkUser(tx: Tx, id: number) {
  await deleteIdentity(tx, { id })
  await deletePasskeysOfUser(tx, { id })
  await updateUnlinked(tx, { id })
}

/** Returns whether the user may sign in and has done so. */
export const isUserActive = wholeQueryExists((db, p: UserKey) =>
  db.selectFrom('users').select('id').where('org', '=', p.org).where('id', '=', p.id).where('state', '=', 'ACTIVE'),
)

/** A person who signs in is active from then on. Returns false for a user who is disabled or gone. */
export const updateSignedIn = writeExists((db, p: { org: number; user: number; at: number }) =>
  db
    .updateTable('users')
    .set({ signed_in_at: p.at, last_seen_at: p.at, state: 'ACTIVE' })
    .where('org', '=', p.org)
    .where('id', '=', p.user)
    .where('state', '!=', 'DISABLED')
    .returning('id'),
)

/** Another node may have written a later time: a time never goes back. */
export const updateLastSeen = systemWrite((db, p: { org: number; id: number; at: number }) =>
  db
    .updateTable('users')
    .set({ last_seen_at: p.at })
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where((e) => e.or([e('last_seen_at', 'is', null), e('last_seen_at', '<', p.at)])),
)

export const updateInvited = write((db, p: { org: number; user: number; at: number }) =>
  db.updateTable('users').set({ invited_at: p.at }).where('org', '=', p.org).where('id', '=', p.user),
)

/** The ways in which a user signs in are part of the answer, so its version changes with them. [contract D.9] */
export const raiseUserVersion = write((db, p: { org: number; user: number }) =>
  db
    .updateTable('users')
    .set((e) => ({ version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', '=', p.user),
)

/** An active owner needs no further link of the first owner. [contract 11.local] */
export const hasActiveOwner = wholeQueryExists((db, p: { org: number }) =>
  db
    .selectFrom('users')
    .select('id')
    .where('org', '=', p.org)
    .where('role', '=', 'owner')
    .where('state', '=', 'ACTIVE')
    .limit(1),
)

/** Organisations without an active owner. */
export const listOrgsWithoutOwner = systemQuery((db, _: object) =>
  db
    .selectFrom('orgs')
    .select('id')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('users')
            .select('users.id')
            .whereRef('users.org', '=', 'orgs.key')
            .where('users.role', '=', 'owner')
            .where('users.state', '=', 'ACTIVE'),
        ),
      ),
    )
    .orderBy('key'),
)
