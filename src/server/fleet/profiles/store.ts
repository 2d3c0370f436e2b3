// Holds the SQL of profiles.

import { pickColumns } from '../../db/queries/columns.ts'
import { query, queryOne, wholeQuery, write } from '../../db/queries/query.ts'
import { type ProfileRow, profileFieldColumns, profileSummaryColumns } from './fields.ts'

const writtenColumns = ['version', 'config_id', 'external_id', ...profileFieldColumns] as const

export const listProfiles = query((db, p: { org: number }) =>
  db.selectFrom('profiles').select(profileSummaryColumns).where('org', '=', p.org).orderBy('id'),
)

export const findProfile = queryOne((db, p: { org: number; id: number }) =>
  db.selectFrom('profiles').selectAll().where('org', '=', p.org).where('id', '=', p.id),
)

/** Lists the endpoints that the profile is assigned to. */
export const listEndpointsWithProfile = wholeQuery((db, p: { org: number; profile: number }) =>
  db
    .selectFrom('endpoints')
    .select(['id', 'serial', 'model', 'name'])
    .where('org', '=', p.org)
    .where('profile_id', '=', p.profile)
    .orderBy('id'),
)

export const insertProfile = write((db, p: ProfileRow & { org: number }) =>
  db.insertInto('profiles').values({ org: p.org, id: p.id, ...pickColumns(p, writtenColumns) }),
)

export const updateProfile = write((db, p: ProfileRow & { org: number }) =>
  db.updateTable('profiles').set(pickColumns(p, writtenColumns)).where('org', '=', p.org).where('id', '=', p.id),
)

export const deleteProfile = write((db, p: { org: number; id: number }) =>
  db.deleteFrom('profiles').where('org', '=', p.org).where('id', '=', p.id),
)
