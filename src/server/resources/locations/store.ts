// Holds the SQL of locations.

import { visibleQuery, visibleQueryOne, write } from '../../db/queries/query.ts'

type LocationKey = { org: number; id: number }

export const listLocations = visibleQuery('region', 'l.region_id', (db, p: { org: number }) =>
  db
    .selectFrom('locations as l')
    .leftJoin('regions as r', (j) => j.onRef('r.org', '=', 'l.org').onRef('r.id', '=', 'l.region_id'))
    .select(['l.id', 'l.name', 'l.region_id', 'l.timezone', 'l.change_window', 'r.name as region_name'])
    .where('l.org', '=', p.org)
    .orderBy('l.id'),
)

export const findLocation = visibleQueryOne('region', 'l.region_id', (db, p: LocationKey) =>
  db
    .selectFrom('locations as l')
    .leftJoin('regions as r', (j) => j.onRef('r.org', '=', 'l.org').onRef('r.id', '=', 'l.region_id'))
    .select(['l.id', 'l.name', 'l.version', 'l.region_id', 'l.timezone', 'l.change_window', 'r.name as region_name'])
    .where('l.org', '=', p.org)
    .where('l.id', '=', p.id),
)

interface LocationValues {
  name: string
  region_id: number | null
  timezone: string | null
  change_window: string | null
}

export const insertLocation = write((db, p: LocationKey & LocationValues) =>
  db.insertInto('locations').values({
    org: p.org,
    id: p.id,
    name: p.name,
    region_id: p.region_id,
    timezone: p.timezone,
    change_window: p.change_window,
    version: 1,
  }),
)

export const updateLocation = write((db, p: LocationKey & LocationValues) =>
  db
    .updateTable('locations')
    .set((e) => ({
      name: p.name,
      region_id: p.region_id,
      timezone: p.timezone,
      change_window: p.change_window,
      version: e('version', '+', 1),
    }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

export const deleteLocation = write((db, p: LocationKey) =>
  db.deleteFrom('locations').where('org', '=', p.org).where('id', '=', p.id),
)
