// Holds the SQL of the versions of profiles.

import type { Tx } from '../../db/handles.ts'
import { pickColumns } from '../../db/queries/columns.ts'
import { query, write } from '../../db/queries/query.ts'
import { type ProfileRow, type ProfileVersionRow, profileFieldColumns } from './fields.ts'

/** Lists versions, the newest first, from version `upTo` downwards. */
export const listProfileVersions = query((db, p: { org: number; id: number; upTo: number; count: number }) =>
  db
    .selectFrom('profile_versions')
    .selectAll()
    .where('org', '=', p.org)
    .where('profile_id', '=', p.id)
    .where('version', '<=', p.upTo)
    .orderBy('version', 'desc')
    .limit(p.count),
)

const insertIfAbsent = write((db, p: ProfileVersionRow) =>
  db
    .insertInto('profile_versions')
    .values({
      org: p.org,
      profile_id: p.profile_id,
      version: p.version,
      ...pickColumns(p, profileFieldColumns),
      author_type: p.author_type,
      author_id: p.author_id,
      author_name: p.author_name,
      created_at: p.created_at,
    })
    .onConflict((c) => c.doNothing()),
)

interface VersionAuthor {
  readonly type: string
  readonly id: string
  readonly name: string
}

/** Stores the state of a profile as the version with its number, unless that version is stored already. */
export const insertProfileVersion = (tx: Tx, row: ProfileRow, author: VersionAuthor, now: number) =>
  insertIfAbsent(tx, {
    profile_id: row.id,
    version: row.version,
    ...pickColumns(row, profileFieldColumns),
    author_type: author.type,
    author_id: author.id,
    author_name: author.name,
    created_at: now,
  })
