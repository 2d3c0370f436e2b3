// Holds the SQL of the links that sign people in. [contract 11.local]

import type { Insertable } from 'kysely'
import type { Org } from '../../auth/token-holder.ts'
import { wholeQueryOne, write, writeExists } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { type SystemReader, systemQueryOne, systemWrite } from '../../db/system.ts'

/** A link of usersInvite, one of the command line, or the one that makes the first owner. */
export type UserLinkPurpose = 'invite' | 'sign-in' | 'first-owner'

export interface UserLink {
  readonly hash: Buffer
  readonly org: Org
  readonly purpose: UserLinkPurpose
  /** Absent for the link of the first owner until it has made one. */
  readonly user: LinkedUser | undefined
}

export interface LinkedUser {
  readonly id: number
  readonly email: string
  readonly role: string
}

const selectUserLink = systemQueryOne((db, p: { hash: Buffer; now: number }) =>
  db
    .selectFrom('user_links as l')
    .innerJoin('orgs as o', 'o.key', 'l.org')
    .leftJoin('users as u', (j) => j.onRef('u.org', '=', 'l.org').onRef('u.id', '=', 'l.user_id'))
    .select(['l.org', 'o.id as org_id', 'l.purpose', 'u.id as user_id', 'u.email', 'u.role'])
    .where('l.hash', '=', p.hash)
    .where('l.expires_at', '>', p.now),
)
/** Finds a link that has not expired. */
export async function findUserLink(on: SystemReader, hash: Buffer, now: number): Promise<UserLink | undefined> {
  const row = await selectUserLink(on, { hash, now })
  return (
    row && {
      hash,
      org: { key: row.org, id: row.org_id },
      purpose: row.purpose as UserLinkPurpose,
      user: row.user_id === null ? undefined : { id: row.user_id, email: row.email ?? '', role: row.role ?? '' },
    }
  )
}

export const insertUserLink = write((db, p: Insertable<DatabaseSchema['user_links']> & { purpose: UserLinkPurpose }) =>
  db
    .insertInto('user_links')
    .values({ hash: p.hash, org: p.org, user_id: p.user_id, purpose: p.purpose, expires_at: p.expires_at }),
)

/** Returns true for one of several concurrent callers: the one that deleted the link. */
export const deleteUserLink = writeExists((db, p: { org: number; hash: Buffer }) =>
  db.deleteFrom('user_links').where('org', '=', p.org).where('hash', '=', p.hash).returning('purpose'),
)

/** Gives the link of the first owner to the user that it has made. Returns true for one of several concurrent callers. */
export const assignUserLink = writeExists((db, p: { org: number; hash: Buffer; user: number }) =>
  db
    .updateTable('user_links')
    .set({ user_id: p.user })
    .where('org', '=', p.org)
    .where('hash', '=', p.hash)
    .where('user_id', 'is', null)
    .returning('purpose'),
)

export const deleteLinksOfUser = write((db, p: { org: number; user: number }) =>
  db.deleteFrom('user_links').where('org', '=', p.org).where('user_id', '=', p.user),
)

export const deleteExpiredUserLinks = systemWrite((db, p: { now: number }) =>
  db.deleteFrom('user_links').where('expires_at', '<=', p.now),
)

/** The user that a link is made for. */
export const findUserToInvite = wholeQueryOne((db, p: { org: number; id: number }) =>
  db
    .selectFrom('users')
    .select(['id', 'email', 'role', 'all_regions', 'state'])
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)
