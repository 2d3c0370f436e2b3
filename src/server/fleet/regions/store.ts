// Holds the SQL of regions.

import { pickColumns } from '../../db/queries/columns.ts'
import { visibleQuery, visibleQueryOne, wholeQueryExists, write } from '../../db/queries/query.ts'
import { type RegionValues, regionFieldColumns } from './fields.ts'

type RegionKey = { org: number; id: number }

export const listRegions = visibleQuery('region', 'regions.id', (db, p: { org: number }) =>
  db
    .selectFrom('regions')
    .select(['id', 'version', ...regionFieldColumns])
    .where('org', '=', p.org)
    .orderBy('id'),
)

export const findRegion = visibleQueryOne('region', 'regions.id', (db, p: RegionKey) =>
  db
    .selectFrom('regions')
    .select(['id', 'version', ...regionFieldColumns])
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

export const listAssignedLocations = visibleQuery('region', 'locations.region_id', (db, p: { org: number }) =>
  db
    .selectFrom('locations')
    .select(['id', 'name', 'region_id'])
    .where('org', '=', p.org)
    .where('region_id', 'is not', null)
    .orderBy('id'),
)

export const listLocationsOfRegion = visibleQuery('region', 'locations.region_id', (db, p: RegionKey) =>
  db
    .selectFrom('locations')
    .select(['id', 'name'])
    .where('org', '=', p.org)
    .where('region_id', '=', p.id)
    .orderBy('id'),
)

/** The caller may not see the location, but the region must not be deleted all the same. */
export const regionHasLocation = wholeQueryExists((db, p: RegionKey) =>
  db.selectFrom('locations').select('id').where('org', '=', p.org).where('region_id', '=', p.id).limit(1),
)

export const insertRegion = write((db, p: RegionKey & RegionValues) =>
  db.insertInto('regions').values({ org: p.org, id: p.id, version: 1, ...pickColumns(p, regionFieldColumns) }),
)

export const updateRegion = write((db, p: RegionKey & RegionValues) =>
  db
    .updateTable('regions')
    .set((e) => ({ ...pickColumns(p, regionFieldColumns), version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

export const deleteRegion = write((db, p: RegionKey) =>
  db.deleteFrom('regions').where('org', '=', p.org).where('id', '=', p.id),
)
