// Holds the SQL of users and of the regions that they are assigned to.

import { sql } from 'kysely'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { wholeQuery, wholeQueryExists, wholeQueryOne, write, writeExists } from '../../db/queries/query.ts'

type UserKey = { org: number; id: number }

export const listUsers = wholeQuery((db, p: { org: number }) =>
  db.selectFrom('users').select(['id', 'email', 'role', 'version']).where('org', '=', p.org).orderBy('id'),
)

export const findUser = wholeQueryOne((db, p: UserKey) =>
  db.selectFrom('users').select(['id', 'email', 'role', 'version']).where('org', '=', p.org).where('id', '=', p.id),
)

export const findUserByEmail = wholeQueryOne((db, p: { org: number; key: string }) =>
  db.selectFrom('users').select('id').where('org', '=', p.org).where('email_key', '=', p.key),
)

export const hasOtherOwner = wholeQueryExists((db, p: UserKey) =>
  db
    .selectFrom('users')
    .select('id')
    .where('org', '=', p.org)
    .where('role', '=', 'owner')
    .where('id', '!=', p.id)
    .limit(1),
)

export const listRegionsOfUsers = wholeQuery((db, p: { org: number }) =>
  db.selectFrom('user_regions').select(['user_id', 'region_id']).where('org', '=', p.org).orderBy('region_id'),
)

const selectRegionsOfUser = wholeQuery((db, p: UserKey) =>
  db
    .selectFrom('user_regions')
    .select('region_id')
    .where('org', '=', p.org)
    .where('user_id', '=', p.id)
    .orderBy('region_id'),
)
export const listRegionsOfUser = async (on: OrgReader, id: number) =>
  (await selectRegionsOfUser(on, { id })).map((r) => r.region_id)

interface UserValues {
  email: string
  email_key: string
  role: string
}

const insertRow = write((db, p: UserKey & UserValues) =>
  db
    .insertInto('users')
    .values({ org: p.org, id: p.id, version: 1, email: p.email, email_key: p.email_key, role: p.role }),
)
export const insertUser = (tx: Tx, id: number, values: UserValues) => insertRow(tx, { id, ...values })

const updateRow = write((db, p: UserKey & UserValues) =>
  db
    .updateTable('users')
    .set((e) => ({ email: p.email, email_key: p.email_key, role: p.role, version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)
export const updateUser = (tx: Tx, id: number, values: UserValues) => updateRow(tx, { id, ...values })

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

/** A person who signs in is active from then on. Returns false for a user who is disabled or gone. */
export const updateSignedIn = writeExists((db, p: { org: number; user: number; at: number }) =>
  db
    .updateTable('users')
    .set((e) => ({ signed_in_at: p.at, last_seen_at: p.at, state: 'ACTIVE', version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', '=', p.user)
    .where('state', '!=', 'DISABLED')
    .returning('id'),
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

/** The first owner is active at once, because they are signing in. */
export const insertFirstOwner = write((db, p: UserKey & { email: string; email_key: string; at: number }) =>
  db.insertInto('users').values({
    org: p.org,
    id: p.id,
    version: 1,
    email: p.email,
    email_key: p.email_key,
    role: 'owner',
    state: 'ACTIVE',
    invited_at: p.at,
    signed_in_at: p.at,
    last_seen_at: p.at,
  }),
)
