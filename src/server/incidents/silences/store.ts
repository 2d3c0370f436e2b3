// Holds the SQL of silences, and of the places that they name.

import { type Selectable, sql } from 'kysely'
import { isAnyNumberOf, isAnyOf } from '../../db/queries/any-of.ts'
import { pickColumns } from '../../db/queries/columns.ts'
import { visibleQuery, wholeQuery, wholeQueryOne, write } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { systemWrite } from '../../db/system.ts'

export type SilenceRow = Omit<Selectable<DatabaseSchema['silences']>, 'org'>

const columns = [
  'id',
  'version',
  'place_type',
  'place_id',
  'rules',
  'reason',
  'since',
  'until',
  'weekly',
  'author_type',
  'author_id',
  'author_name',
] as const

/** Lists those that have not ended, whichever place they are about: `visible-silences.ts` leaves out what the caller does not see. */
export const listUnendedSilences = wholeQuery((db, p: { org: number; now: number }) =>
  db
    .selectFrom('silences')
    .select(columns)
    .where('org', '=', p.org)
    .where((e) => e.or([e('until', 'is', null), e('until', '>', p.now)]))
    .orderBy('id'),
)

export const findUnendedSilence = wholeQueryOne((db, p: { org: number; id: number; now: number }) =>
  db
    .selectFrom('silences')
    .select(columns)
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where((e) => e.or([e('until', 'is', null), e('until', '>', p.now)])),
)

export const insertSilence = write((db, p: { org: number } & SilenceRow) =>
  db.insertInto('silences').values({ org: p.org, ...pickColumns(p, columns) }),
)

export const deleteSilence = write((db, p: { org: number; id: number }) =>
  db.deleteFrom('silences').where('org', '=', p.org).where('id', '=', p.id),
)

/** Deletes the silences of all organisations that ended before a time, or whose place was deleted. */
export const deleteOldSilences = systemWrite((db, p: { before: number }) => {
  const isGone = (table: 'regions' | 'locations' | 'rooms' | 'endpoints', type: SilenceRow['place_type']) =>
    sql<boolean>`silences.place_type = ${sql.lit(type)} and not exists (select 1 from ${sql.table(table)} g
      where g.org = silences.org and cast(g.id as text) = silences.place_id)`
  return db
    .deleteFrom('silences')
    .where((e) =>
      e.or([
        e('until', '<', p.before),
        isGone('regions', 'region'),
        isGone('locations', 'location'),
        isGone('rooms', 'room'),
        isGone('endpoints', 'endpoint'),
      ]),
    )
})

interface Ids {
  org: number
  ids: readonly number[]
}

export const listRegionsOfSilences = visibleQuery('region', 'r.id', (db, p: Ids, engine) =>
  db
    .selectFrom('regions as r')
    .select('r.id')
    .where('r.org', '=', p.org)
    .where(isAnyNumberOf(engine, 'r.id', p.ids)),
)

/** Locations, rooms and endpoints come with the time zone of their location. */
export const listLocationsOfSilences = visibleQuery('location', 'l.id', (db, p: Ids, engine) =>
  db
    .selectFrom('locations as l')
    .select(['l.id', 'l.timezone'])
    .where('l.org', '=', p.org)
    .where(isAnyNumberOf(engine, 'l.id', p.ids)),
)

export const listRoomsOfSilences = visibleQuery('room', 'r.id', (db, p: Ids, engine) =>
  db
    .selectFrom('rooms as r')
    .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
    .select(['r.id', 'l.timezone'])
    .where('r.org', '=', p.org)
    .where(isAnyNumberOf(engine, 'r.id', p.ids)),
)

export const listEndpointsOfSilences = visibleQuery(
  'endpoint',
  'e.id',
  (db, p: { org: number; ids: readonly string[] }, engine) =>
    db
      .selectFrom('endpoints as e')
      .leftJoin('rooms as r', (j) => j.onRef('r.org', '=', 'e.org').onRef('r.id', '=', 'e.room_id'))
      .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
      .select(['e.id', 'l.timezone'])
      .where('e.org', '=', p.org)
      .where(isAnyOf(engine, 'e.id', p.ids)),
)

/** The time zones of visible locations; null stands for the organisation's. */
export const listZones = visibleQuery('region', 'l.region_id', (db, p: { org: number }) =>
  db.selectFrom('locations as l').select(['l.region_id', 'l.timezone']).where('l.org', '=', p.org),
)

/** The time zones of locations, regardless of region access; null stands for the organisation's. */
export const listZonesOfLocations = wholeQuery((db, p: Ids, engine) =>
  db
    .selectFrom('locations as l')
    .select(['l.id', 'l.timezone'])
    .where('l.org', '=', p.org)
    .where(isAnyNumberOf(engine, 'l.id', p.ids)),
)
