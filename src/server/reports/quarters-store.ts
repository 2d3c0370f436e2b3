// SQL of the rollups of rooms. The calling code has read the rooms with the rights of its caller: deleted rooms are in no table that could be asked again.
import { isAnyNumberOf } from '../db/queries/any-of.ts'
import { wholeQuery } from '../db/queries/query.ts'

/** `last` is included. */
type RoomDays = { org: number; rooms: readonly number[]; first: number; last: number }

export const listPeopleDays = wholeQuery((db, p: RoomDays, engine) =>
  db
    .selectFrom('room_days as d')
    .select(['d.room', 'd.day', 'd.people'])
    .where('d.org', '=', p.org)
    .where(isAnyNumberOf(engine, 'd.room', p.rooms))
    .where('d.day', '>=', p.first)
    .where('d.day', '<=', p.last),
)

export const listAirDays = wholeQuery((db, p: RoomDays, engine) =>
  db
    .selectFrom('room_days as d')
    .select(['d.room', 'd.day', 'd.people', 'd.co2', 'd.humidity', 'd.temp', 'd.voc'])
    .where('d.org', '=', p.org)
    .where(isAnyNumberOf(engine, 'd.room', p.rooms))
    .where('d.day', '>=', p.first)
    .where('d.day', '<=', p.last),
)
