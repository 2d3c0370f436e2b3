// Holds the SQL that finds the room, location and region of endpoints, rooms and locations in one statement.

import { sql } from 'kysely'
import { isAnyNumberOf, isAnyOf } from '../../db/queries/any-of.ts'
import { wholeQuery } from '../../db/queries/query.ts'

/** Returns one row for each endpoint, room and location that exists, with the places that contain it. */
export const listPlacesOf = wholeQuery(
  (
    db,
    p: { org: number; endpoints: readonly string[]; rooms: readonly number[]; locations: readonly number[] },
    engine,
  ) =>
    db
      .selectFrom('endpoints as e')
      .leftJoin('rooms as r', (j) => j.onRef('r.org', '=', 'e.org').onRef('r.id', '=', 'e.room_id'))
      .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
      .select([sql<string | null>`e.id`.as('endpoint'), 'e.room_id as room', 'r.location_id as location'])
      .select('l.region_id as region')
      .where('e.org', '=', p.org)
      .where(isAnyOf(engine, 'e.id', p.endpoints))
      .unionAll(
        db
          .selectFrom('rooms as r')
          .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
          .select([sql<string | null>`null`.as('endpoint'), 'r.id as room', 'r.location_id as location'])
          .select('l.region_id as region')
          .where('r.org', '=', p.org)
          .where(isAnyNumberOf(engine, 'r.id', p.rooms)),
      )
      .unionAll(
        db
          .selectFrom('locations as l')
          .select([sql<string | null>`null`.as('endpoint'), sql<number | null>`null`.as('room'), 'l.id as location'])
          .select('l.region_id as region')
          .where('l.org', '=', p.org)
          .where(isAnyNumberOf(engine, 'l.id', p.locations)),
      ),
)
