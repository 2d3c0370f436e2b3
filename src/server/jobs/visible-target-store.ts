// SQL that finds which places of a target the caller sees.

import { isAnyNumberOf } from '../db/queries/any-of.ts'
import { visibleQuery } from '../db/queries/query.ts'

type Ids = { org: number; ids: readonly number[] }

export const listRegionIds = visibleQuery('region', 'r.id', (db, p: Ids, engine) =>
  db
    .selectFrom('regions as r')
    .select('r.id')
    .where('r.org', '=', p.org)
    .where(isAnyNumberOf(engine, 'r.id', p.ids)),
)
export const listLocationIds = visibleQuery('location', 'l.id', (db, p: Ids, engine) =>
  db
    .selectFrom('locations as l')
    .select('l.id')
    .where('l.org', '=', p.org)
    .where(isAnyNumberOf(engine, 'l.id', p.ids)),
)
export const listRoomIds = visibleQuery('room', 'r.id', (db, p: Ids, engine) =>
  db
    .selectFrom('rooms as r')
    .select('r.id')
    .where('r.org', '=', p.org)
    .where(isAnyNumberOf(engine, 'r.id', p.ids)),
)
