// Holds the SQL of locations.

import type { Kysely } from 'kysely'
import { pickColumns } from '../../db/queries/columns.ts'
import { visibleQuery, visibleQueryOne, write } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { type LocationValues, locationFieldColumns } from './fields.ts'

type LocationKey = { org: number; id: number }

const locationRows = (db: Kysely<DatabaseSchema>, p: { org: number }) =>
  db
    .selectFrom('locations as l')
    .leftJoin('regions as r', (j) => j.onRef('r.org', '=', 'l.org').onRef('r.id', '=', 'l.region_id'))
    .select(['l.id', 'l.version', 'r.name as region_name'])
    .select(locationFieldColumns.map((column) => `l.${column}` as const))
    .where('l.org', '=', p.org)

export const listLocations = visibleQuery('region', 'l.region_id', (db, p: { org: number }) =>
  locationRows(db, p).orderBy('l.id'),
)

export const findLocation = visibleQueryOne('region', 'l.region_id', (db, p: LocationKey) =>
  locationRows(db, p).where('l.id', '=', p.id),
)

export const insertLocation = write((db, p: LocationKey & LocationValues) =>
  db.insertInto('locations').values({ org: p.org, id: p.id, version: 1, ...pickColumns(p, locationFieldColumns) }),
)

export const updateLocation = write((db, p: LocationKey & LocationValues) =>
  db
    .updateTable('locations')
    .set((e) => ({ ...pickColumns(p, locationFieldColumns), version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

export const deleteLocation = write((db, p: LocationKey) =>
  db.deleteFrom('locations').where('org', '=', p.org).where('id', '=', p.id),
)
