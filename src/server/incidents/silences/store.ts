// Holds the SQL of silences, and of the places that they name.

import { type Selectable, sql } from 'kysely'
import { isAnyNumberOf, isAnyOf } from '../../db/queries/any-of.ts'
import { pickColumns } from '../../db/queries/columns.ts'
import { visibleQuery, wholeQuery, wholeQueryOne, write } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { type SystemTx, systemWrite } from '../../db/system.ts'

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

/** Ends a silence that has begun. The row stays for reports. */
export const updateSilenceEnded = write((db, p: { org: number; id: number; at: number }) =>
  db
    .updateTable('silences')
    .set((e) => ({ until: p.at, version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

/** Deletes a silence that has not begun. */
export const deleteSilence = write((db, p: { org: number; id: number }) =>
  db.deleteFrom('silences').where('org', '=', p.org).where('id', '=', p.id),
)

const isPlaceGone = (table: 'regions' | 'locations' | 'rooms' | 'endpoints', type: SilenceRow['place_type']) =>
  sql<boolean>`silences.place_type = ${sql.lit(type)} and not exists (select 1 from ${sql.table(table)} g
    where g.org = silences.org and cast(g.id as text) = silences.place_id)`
const isOfGonePlace = sql<boolean>`(${sql.join(
  [
    isPlaceGone('regions', 'region'),
    isPlaceGone('locations', 'location'),
    isPlaceGone('rooms', 'room'),
    isPlaceGone('endpoints', 'endpoint'),
  ],
  sql` or `,
)})`

/** Ends the silences of all organisations whose place was deleted. Those that have not begun are deleted. */
export async function endSilencesOfGonePlaces(tx: SystemTx, now: number): Promise<void> {
  await deleteComingOfGonePlaces(tx, { now })
  await updateEndedOfGonePlaces(tx, { now })
}
const deleteComingOfGonePlaces = systemWrite((db, p: { now: number }) =>
  db.deleteFrom('silences').where('since', '>=', p.now).where(isOfGonePlace),
)
const updateEndedOfGonePlaces = systemWrite((db, p: { now: number }) =>
  db
    .updateTable('silences')
    .set({ until: p.now })
    .where((e) => e.or([e('until', 'is', null), e('until', '>', p.now)]))
    .where(isOfGonePlace),
)

/** Deletes the silences of all organisations that ended before a time. */
export const deleteSilencesBefore = systemWrite((db, p: { before: number }) =>
  db.deleteFrom('silences').where('until', '<', p.before),
)

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
