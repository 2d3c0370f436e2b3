// SQL of profiles.
import type { Selectable } from 'kysely'
import type { Reader, Tx } from '../../db/db.ts'
import { query, queryOne } from '../../db/query.ts'
import type { DatabaseSchema } from '../../db/schema.ts'

export type ProfileRow = Selectable<DatabaseSchema['profiles']>

const all = query((db, p: { org: number }) =>
  db.selectFrom('profiles').select(['id', 'name', 'description', 'config_id']).where('org', '=', p.org).orderBy('id'),
)
export const listProfiles = (on: Reader, org: number) => all(on, { org })

const one = queryOne((db, p: { org: number; id: number }) =>
  db.selectFrom('profiles').selectAll().where('org', '=', p.org).where('id', '=', p.id),
)
export const findProfile = (on: Reader, org: number, id: number) => one(on, { org, id })

const holders = query((db, p: { org: number; profile: number }) =>
  db
    .selectFrom('endpoints')
    .select(['id', 'serial'])
    .where('org', '=', p.org)
    .where('profile_id', '=', p.profile)
    .orderBy('id'),
)
/** The endpoints that have it. */
export const listHolders = (on: Reader, org: number, profile: number) => holders(on, { org, profile })

const insert = query((db, p: ProfileRow) =>
  db.insertInto('profiles').values({
    org: p.org,
    id: p.id,
    version: p.version,
    name: p.name,
    description: p.description,
    config_id: p.config_id,
    config: p.config,
    secrets: p.secrets,
  }),
)
export const insertProfile = (tx: Tx, profile: ProfileRow) => insert(tx, profile)

const update = query((db, p: ProfileRow) =>
  db
    .updateTable('profiles')
    .set({
      version: p.version,
      name: p.name,
      description: p.description,
      config_id: p.config_id,
      config: p.config,
      secrets: p.secrets,
    })
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)
export const updateProfile = (tx: Tx, profile: ProfileRow) => update(tx, profile)

const remove = query((db, p: { org: number; id: number }) =>
  db.deleteFrom('profiles').where('org', '=', p.org).where('id', '=', p.id),
)
export const deleteProfile = (tx: Tx, org: number, id: number) => remove(tx, { org, id })
