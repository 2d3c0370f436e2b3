// SQL that reads what the actor of a job may do and see: a key, or a person.
import { holderColumns, regionList } from '../../db/queries/holder-columns.ts'
import { wholeQueryOne } from '../../db/queries/query.ts'

type Key = { org: number; id: number }

export const findKeyHolderById = wholeQueryOne((db, p: Key, engine) =>
  db
    .selectFrom('api_keys as k')
    .innerJoin('orgs as o', 'o.key', 'k.org')
    .leftJoin('users as u', (j) => j.onRef('u.org', '=', 'k.org').onRef('u.id', '=', 'k.user_id'))
    .select(holderColumns(engine))
    .where('k.org', '=', p.org)
    .where('k.id', '=', p.id),
)

/** Finds a person who may sign in. */
export const findPersonById = wholeQueryOne((db, p: Key, engine) =>
  db
    .selectFrom('users as u')
    .select([
      'u.id',
      'u.email',
      'u.role',
      'u.all_regions',
      regionList(engine, 'user_regions', 'user_id', 'u').as('regions'),
    ])
    .where('u.org', '=', p.org)
    .where('u.id', '=', p.id)
    .where('u.state', '=', 'ACTIVE'),
)
