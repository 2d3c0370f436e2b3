// Holds the SQL of saved views. A view belongs to a person or to a key; a shared one has neither.

import type { Selectable } from 'kysely'
import { pickColumns } from '../../db/queries/columns.ts'
import { query, queryOne, write } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'

export type ViewRow = Omit<Selectable<DatabaseSchema['saved_views']>, 'org'>
/** The person or the key whose views are read. */
export type ViewOwner = Pick<ViewRow, 'user_id' | 'key_id'>

const columns = [
  'id',
  'version',
  'user_id',
  'key_id',
  'name',
  'page',
  'query',
  'columns',
  'author_type',
  'author_id',
  'author_name',
] as const

type ForOwner = { org: number; user: number; key: number }

/** The shared views and those of one owner; an id of 0 stands for none. */
export const listViews = query((db, p: ForOwner) =>
  db
    .selectFrom('saved_views')
    .select(columns)
    .where('org', '=', p.org)
    .where((e) =>
      e.or([
        e.and([e('user_id', 'is', null), e('key_id', 'is', null)]),
        e('user_id', '=', p.user),
        e('key_id', '=', p.key),
      ]),
    )
    .orderBy('id'),
)

export const findView = queryOne((db, p: ForOwner & { id: number }) =>
  db
    .selectFrom('saved_views')
    .select(columns)
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where((e) =>
      e.or([
        e.and([e('user_id', 'is', null), e('key_id', 'is', null)]),
        e('user_id', '=', p.user),
        e('key_id', '=', p.key),
      ]),
    ),
)

export const insertView = write((db, p: { org: number } & ViewRow) =>
  db.insertInto('saved_views').values({ org: p.org, ...pickColumns(p, columns) }),
)

const writtenColumns = ['user_id', 'key_id', 'name', 'query', 'columns'] as const

export const updateView = write((db, p: { org: number } & Pick<ViewRow, 'id' | (typeof writtenColumns)[number]>) =>
  db
    .updateTable('saved_views')
    .set((e) => ({ ...pickColumns(p, writtenColumns), version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

export const deleteView = write((db, p: { org: number; id: number }) =>
  db.deleteFrom('saved_views').where('org', '=', p.org).where('id', '=', p.id),
)
