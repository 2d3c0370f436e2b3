// SQL of the rollups of rooms, one row for each day.
import { sql } from 'kysely'
import type { TelemetryTx } from '../../db/handles.ts'
import { jsonRows } from '../../db/queries/json-rows.ts'
import { wholeQuery, writeTelemetry } from '../../db/queries/query.ts'
import { type Rollup, type RoomDaySensor, roomDaySensors } from '../../db/schema/schema.ts'
import { systemQueryExists, systemWrite } from '../../db/system.ts'

/** Quarters of a room: the first, and the one after the last. */
export interface RoomRange {
  readonly room: number
  readonly first: number
  readonly end: number
}

const listQuarters = wholeQuery((db, p: { org: number; ranges: readonly (readonly number[])[] }, engine) => {
  const ranges = jsonRows<{ room_id: number; first_slot: number; end_slot: number }>(engine, p.ranges, {
    room_id: 'integer',
    first_slot: 'integer',
    end_slot: 'integer',
  })
  // A device can have been in the room several times. SQLite follows the order of a cross join.
  const devices = sql<{ room_id: number; first_slot: number; end_slot: number; endpoint: number; presence: number }>`(
    select p.room_id, p.first_slot, p.end_slot, r.endpoint, max(coalesce(r.presence_only, e.presence_only, 0)) as presence
    from ${ranges} as p
    cross join endpoint_rooms r
    left join endpoints e on e.org = r.org and e.number = r.endpoint
    where r.org = ${p.org} and r.room_id = p.room_id
    group by p.room_id, p.first_slot, p.end_slot, r.endpoint)`
  const matches = (
    of: string,
  ) => sql<boolean>`${sql.ref(`${of}org`)} = ${p.org} and ${sql.ref(`${of}endpoint`)} = d.endpoint
    and ${sql.ref(`${of}slot`)} >= d.first_slot and ${sql.ref(`${of}slot`)} < d.end_slot and ${sql.ref(`${of}room`)} = d.room_id`
  // PostgreSQL looks up each device, as in the other rollups.
  const ofDevice =
    engine === 'postgres'
      ? sql<Rollup>`lateral (select * from sample_quarters where ${matches('')} offset 0)`
      : sql<Rollup>`sample_quarters`
  return db
    .selectFrom(devices.as('d'))
    .crossJoin(ofDevice.as('q'))
    .select(['q.room', 'q.slot', 'd.presence'])
    .select(roomDaySensors.flatMap((sensor) => [`q.${sensor}_count`, `q.${sensor}_sum`] as const))
    .$if(engine === 'sqlite', (q) => q.where(matches('q.')))
    .orderBy('q.room')
    .orderBy('q.slot')
    .orderBy('q.endpoint')
})
/** The quarters of all devices that were in the rooms, by room, time and device. */
export const listDeviceQuarters = (tx: TelemetryTx, ranges: readonly RoomRange[]) =>
  listQuarters(tx, { ranges: ranges.map(({ room, first, end }) => [room, first, end]) })

type StoredDay = { room: number; day: number } & Record<RoomDaySensor, Buffer | null>
const listDays = wholeQuery((db, p: { org: number; days: readonly (readonly number[])[] }, engine) => {
  const wanted = jsonRows<{ wanted_room: number; wanted_day: number }>(engine, p.days, {
    wanted_room: 'integer',
    wanted_day: 'integer',
  })
  const matches = (of: string) =>
    sql<boolean>`${sql.ref(`${of}org`)} = ${p.org} and ${sql.ref(`${of}room`)} = w.wanted_room and ${sql.ref(`${of}day`)} = w.wanted_day`
  const ofRoom =
    engine === 'postgres'
      ? sql<StoredDay>`lateral (select * from room_days where ${matches('')} offset 0)`
      : sql<StoredDay>`room_days`
  return db
    .selectFrom(wanted.as('w'))
    .crossJoin(ofRoom.as('d'))
    .select(['d.room', 'd.day'])
    .select(roomDaySensors.map((sensor) => `d.${sensor}` as const))
    .$if(engine === 'sqlite', (q) => q.where(matches('d.')))
})
export const listRoomDays = (tx: TelemetryTx, days: readonly { room: number; day: number }[]) =>
  listDays(tx, { days: days.map(({ room, day }) => [room, day]) })

export const upsertRoomDay = writeTelemetry((db, p: StoredDay & { org: number }) =>
  db
    .insertInto('room_days')
    .values({
      ...{ org: p.org, room: p.room, day: p.day, people: p.people, co2: p.co2 },
      ...{ humidity: p.humidity, temp: p.temp, voc: p.voc, voc_index: p.voc_index },
    })
    .onConflict((c) =>
      c.columns(['org', 'room', 'day']).doUpdateSet((e) => ({
        people: e.ref('excluded.people'),
        co2: e.ref('excluded.co2'),
        humidity: e.ref('excluded.humidity'),
        temp: e.ref('excluded.temp'),
        voc: e.ref('excluded.voc'),
        voc_index: e.ref('excluded.voc_index'),
      })),
    ),
)

/** The rooms that ever had an endpoint. */
export const listRoomsWithStays = wholeQuery((db, p: { org: number }) =>
  db.selectFrom('endpoint_rooms').select('room_id').distinct().where('org', '=', p.org).orderBy('room_id'),
)

/** Whether a node of another version is up. It may roll up samples without the rollups of rooms. */
export const hasNodeOfOtherVersion = systemQueryExists((db, p: { version: string }) =>
  db.selectFrom('nodes').select('id').where('state', '=', 'up').where('version', '!=', p.version).limit(1),
)

export const updateRoomDaysFrom = writeTelemetry((db, p: { org: number; day: number }) =>
  db.updateTable('sample_progress').set({ room_days_from: p.day }).where('org', '=', p.org),
)

/** Deletes at most `limit` days of all organisations that are before the given one. */
export const deleteRoomDaysBefore = systemWrite((db, p: { before: number; limit: number }) =>
  db
    .deleteFrom('room_days')
    .where(
      (e) => e.refTuple('org', 'room', 'day'),
      'in',
      (e) =>
        e
          .selectFrom('room_days as d')
          .select(['d.org', 'd.room', 'd.day'])
          .where('d.day', '<', p.before)
          .limit(p.limit)
          .$asTuple('org', 'room', 'day'),
    )
    .returning('day'),
)
