// SQL of regions.

import { query, queryExists, queryOne, write } from '../../db/query.ts'

type Key = { org: number; id: number }

export const listRegions = query((db, p: { org: number }) =>
  db.selectFrom('regions').select(['id', 'name', 'version']).where('org', '=', p.org).orderBy('id'),
)

export const findRegion = queryOne((db, p: Key) =>
  db.selectFrom('regions').select(['id', 'name', 'version']).where('org', '=', p.org).where('id', '=', p.id),
)

export const listAssignedLocations = query((db, p: { org: number }) =>
  db
    .selectFrom('locations')
    .select(['id', 'name', 'region_id'])
    .where('org', '=', p.org)
    .where('region_id', 'is not', null)
    .orderBy('id'),
)

export const listLocationsOf = query((db, p: Key) =>
  db
    .selectFrom('locations')
    .select(['id', 'name'])
    .where('org', '=', p.org)
    .where('region_id', '=', p.id)
    .orderBy('id'),
)

export const hasLocation = queryExists((db, p: Key) =>
  db.selectFrom('locations').select('id').where('org', '=', p.org).where('region_id', '=', p.id).limit(1),
)

export const insertRegion = write((db, p: Key & { name: string }) =>
  db.insertInto('regions').values({ org: p.org, id: p.id, name: p.name, version: 1 }),
)

export const updateRegion = write((db, p: Key & { name: string }) =>
  db
    .updateTable('regions')
    .set((e) => ({ name: p.name, version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

export const deleteRegion = write((db, p: Key) =>
  db.deleteFrom('regions').where('org', '=', p.org).where('id', '=', p.id),
)
