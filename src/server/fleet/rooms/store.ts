// Holds the SQL of rooms and of the look-up of enrolment codes.

import { sql } from 'kysely'
import type { Tx } from '../../db/handles.ts'
import { isAnyNumberOf } from '../../db/queries/any-of.ts'
import { pickColumns } from '../../db/queries/columns.ts'
import {
  visibleQuery,
  visibleQueryExists,
  visibleQueryOne,
  wholeQueryExists,
  wholeQueryOne,
  write,
} from '../../db/queries/query.ts'
import { bySite } from '../../db/queries/site-filter.ts'
import { systemQuery, systemQueryOne } from '../../db/system.ts'
import { endpointState, isConnected, type PresenceTimes } from '../../nodes/presence-sql.ts'
import { type RoomValues, roomFieldColumns } from './fields.ts'

type RoomKey = { org: number; id: number }
type RoomFilter = PresenceTimes & { org: number; region: number; location: number; freshSinceSeconds: number }
type RoomIds = { ids: readonly number[]; from: number; to: number }

/** 1 for an endpoint in a state. */
const isIn = (p: PresenceTimes, state: 'UNKNOWN' | 'ASLEEP') =>
  sql<number>`case ${endpointState(p)} when ${sql.lit(state)} then 1 else 0 end`

/** Only samples since `freshSinceSeconds` count for the number of people in a room. The rooms are `ids`, or those from `from` to `to`. */
const listRoomsOf = (byRegion: boolean, byLocation: boolean, byIds: boolean) =>
  visibleQuery('region', 'l.region_id', (db, p: RoomFilter & RoomIds, engine) =>
    db
      .selectFrom('rooms as r')
      .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
      .leftJoin(
        (q) =>
          q
            .selectFrom('endpoints as e')
            .leftJoin('nodes as d', 'd.id', 'e.node_id')
            .leftJoin('endpoint_configs as c', (j) =>
              j.onRef('c.org', '=', 'e.org').onRef('c.endpoint_id', '=', 'e.id').on('c.state', '=', 'FAILED'),
            )
            .leftJoin('samples_latest as s', (j) =>
              j
                .onRef('s.org', '=', 'e.org')
                .onRef('s.endpoint', '=', 'e.number')
                .on('s.timestamp', '>=', p.freshSinceSeconds),
            )
            .select(({ fn }) => [
              'e.room_id',
              fn.countAll<number>().as('endpoints'),
              fn.sum<number>(isConnected).as('connected'),
              fn.sum<number>(isIn(p, 'UNKNOWN')).as('unknown'),
              fn.sum<number>(isIn(p, 'ASLEEP')).as('asleep'),
              fn.count<number>('c.endpoint_id').as('failed'),
              fn.max('s.people').as('people'),
              fn.max(sql<number | null>`case e.presence_only when 0 then s.people end`).as('counted_people'),
            ])
            .where('e.org', '=', p.org)
            .$if(byIds, (endpoints) => endpoints.where(isAnyNumberOf(engine, 'e.room_id', p.ids)))
            .$if(!byIds, (endpoints) => endpoints.where('e.room_id', '>=', p.from).where('e.room_id', '<=', p.to))
            .groupBy('e.room_id')
            .as('n'),
        (j) => j.onRef('n.room_id', '=', 'r.id'),
      )
      .select((e) => [
        'r.id',
        ...roomFieldColumns.map((column) => `r.${column}` as const),
        'r.profile_id',
        'l.name as location_name',
        e.fn.coalesce('n.endpoints', sql<number>`0`).as('endpoints'),
        e.fn.coalesce('n.connected', sql<number>`0`).as('connected'),
        e.fn.coalesce('n.unknown', sql<number>`0`).as('unknown'),
        e.fn.coalesce('n.asleep', sql<number>`0`).as('asleep'),
        e.fn.coalesce('n.failed', sql<number>`0`).as('failed'),
        'n.people',
        'n.counted_people',
      ])
      .where('r.org', '=', p.org)
      .$if(byRegion, (q) => q.where('l.region_id', '=', p.region))
      .$if(byLocation, (q) => q.where('r.location_id', '=', p.location))
      .$if(byIds, (q) => q.where(isAnyNumberOf(engine, 'r.id', p.ids)))
      .$if(!byIds, (q) => q.where('r.id', '>=', p.from).where('r.id', '<=', p.to))
      .orderBy('r.id'),
  )

/** `ids` is not used. */
export const listRooms = bySite((byRegion, byLocation) => listRoomsOf(byRegion, byLocation, false))
/** `from` and `to` are not used. */
export const listRoomsOfIds = bySite((byRegion, byLocation) => listRoomsOf(byRegion, byLocation, true))

/** The room with the largest id, whether or not the caller sees it. */
export const findLastRoom = wholeQueryOne((db, p: { org: number }) =>
  db.selectFrom('rooms').select('id').where('org', '=', p.org).orderBy('id', 'desc').limit(1),
)

/** The room with the smallest id from `from` on, whether or not the caller sees it. */
export const findNextRoom = wholeQueryOne((db, p: { org: number; from: number }) =>
  db.selectFrom('rooms').select('id').where('org', '=', p.org).where('id', '>=', p.from).orderBy('id').limit(1),
)

/** Rooms with their locations, in pages in the order of their ids. */
export const listRoomsWithLocations = bySite((byRegion, byLocation) =>
  visibleQuery(
    'region',
    'l.region_id',
    (db, p: { org: number; region: number; location: number; after: number; limit: number }) =>
      db
        .selectFrom('rooms as r')
        .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
        .select(['r.id', 'r.name', 'r.location_id', 'l.name as location_name'])
        .where('r.org', '=', p.org)
        .where('r.id', '>', p.after)
        .$if(byRegion, (q) => q.where('l.region_id', '=', p.region))
        .$if(byLocation, (q) => q.where('r.location_id', '=', p.location))
        .orderBy('r.id')
        .limit(p.limit),
  ),
)

export const findRoom = visibleQueryOne('region', 'l.region_id', (db, p: RoomKey) =>
  db
    .selectFrom('rooms as r')
    .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
    .leftJoin('regions as g', (j) => j.onRef('g.org', '=', 'l.org').onRef('g.id', '=', 'l.region_id'))
    .select(roomFieldColumns.map((column) => `r.${column}` as const))
    .select([
      'r.id',
      'r.version',
      'r.profile_id',
      'r.dec_sealed',
      'r.dec_used_at',
      'r.dec_timeout',
      'l.name as location_name',
      'l.region_id',
      'g.name as region_name',
    ])
    .where('r.org', '=', p.org)
    .where('r.id', '=', p.id),
)
export type RoomRow = NonNullable<Awaited<ReturnType<typeof findRoom>>>

/** True if an endpoint in the room has rejected its config. */
export const hasFailedConfig = visibleQueryExists('room', 'n.room_id', (db, p: RoomKey) =>
  db
    .selectFrom('endpoints as n')
    .innerJoin('endpoint_configs as c', (j) => j.onRef('c.org', '=', 'n.org').onRef('c.endpoint_id', '=', 'n.id'))
    .select('n.id')
    .where('n.org', '=', p.org)
    .where('n.room_id', '=', p.id)
    .where('c.state', '=', 'FAILED')
    .limit(1),
)

/** Counts rooms that the caller does not see: the profile must not be deleted while one has it. */
export const hasRoomWithProfile = wholeQueryExists((db, p: { org: number; profile: number }) =>
  db.selectFrom('rooms').select('id').where('org', '=', p.org).where('profile_id', '=', p.profile).limit(1),
)

type NewRoom = RoomKey & RoomValues & { profile_id: number | null; dec_sealed: Buffer; dec_timeout: number }
export const insertRoom = write((db, p: NewRoom) =>
  db.insertInto('rooms').values({
    org: p.org,
    id: p.id,
    version: 1,
    ...pickColumns(p, roomFieldColumns),
    profile_id: p.profile_id,
    dec_sealed: p.dec_sealed,
    dec_used_at: null,
    dec_timeout: p.dec_timeout,
  }),
)

export const updateRoom = write((db, p: RoomKey & RoomValues) =>
  db
    .updateTable('rooms')
    .set((e) => ({ ...pickColumns(p, roomFieldColumns), version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

export const updateRoomProfile = write((db, p: RoomKey & { profile: number | null }) =>
  db
    .updateTable('rooms')
    .set((e) => ({ profile_id: p.profile, version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

export const updateDec = write((db, p: RoomKey & { sealed: Buffer }) =>
  db
    .updateTable('rooms')
    .set((e) => ({ dec_sealed: p.sealed, dec_used_at: null, version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

const upsertDirectoryEntry = write((db, p: { org: number; room: number; mac: Buffer }) =>
  db
    .insertInto('dec_directory')
    .values({ org: p.org, room_id: p.room, mac: p.mac })
    .onConflict((c) => c.columns(['org', 'room_id']).doUpdateSet({ mac: p.mac })),
)
const insertPastCode = write((db, p: { org: number; room: number }) =>
  db
    .insertInto('dec_past')
    .columns(['mac', 'org', 'room_id'])
    .expression((q) =>
      q
        .selectFrom('dec_directory')
        .select(['mac', 'org', 'room_id'])
        .where('org', '=', p.org)
        .where('room_id', '=', p.room),
    ),
)
/** Replaces the code of a room. The old code stays known, so that a device that uses it learns why it is refused. */
export const indexDec = async (tx: Tx, room: number, mac: Buffer) => {
  await insertPastCode(tx, { room })
  await upsertDirectoryEntry(tx, { room, mac })
}

/** Finds the room of a code that is valid (`is_present`) or was replaced. */
export const findDec = systemQueryOne((db, p: { mac: Buffer }) =>
  db
    .selectFrom('dec_directory as d')
    .innerJoin('orgs as o', 'o.key', 'd.org')
    .select(['d.mac', 'd.org', 'o.id as org_id', 'd.room_id', sql<number>`1`.as('is_present')])
    .where('d.mac', '=', p.mac)
    .unionAll((q) =>
      q
        .selectFrom('dec_past as d')
        .innerJoin('orgs as o', 'o.key', 'd.org')
        .select(['d.mac', 'd.org', 'o.id as org_id', 'd.room_id', sql<number>`0`.as('is_present')])
        .where('d.mac', '=', p.mac),
    ),
)

/** Records the use of a code. The first use starts the period after which the code expires. */
export const useDec = write((db, p: RoomKey & { at: number }) =>
  db
    .updateTable('rooms')
    .set((e) => ({ dec_used_at: e.fn.coalesce('dec_used_at', sql<number>`${p.at}`), version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

/** Clears the location of its rooms, and returns these rooms for the audit entry. */
export const unassignRoomsOfLocation = write((db, p: { org: number; location: number }) =>
  db
    .updateTable('rooms')
    .set((e) => ({ location_id: null, version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('location_id', '=', p.location)
    .returning(['id', 'name']),
)

/** Ids of rooms that do not exist are skipped. */
export const listRoomsById = visibleQuery(
  'room',
  'rooms.id',
  (db, p: { org: number; ids: readonly number[] }, engine) =>
    db
      .selectFrom('rooms')
      .select(['id', 'name'])
      .where('org', '=', p.org)
      .where(isAnyNumberOf(engine, 'id', p.ids)),
)

export const deleteRoom = write((db, p: RoomKey) =>
  db.deleteFrom('rooms').where('org', '=', p.org).where('id', '=', p.id),
)

/** Counts the endpoints of the rooms that follow a room, over all organisations and in the order of their keys. */
export const countEndpointsOfRooms = systemQuery((db, p: PresenceTimes & { org: number; id: number; limit: number }) =>
  db
    .selectFrom((q) =>
      q
        .selectFrom('rooms')
        .select(['org', 'id'])
        .where(sql<boolean>`(org, id) > (${p.org}, ${p.id})`)
        .orderBy('org')
        .orderBy('id')
        .limit(p.limit)
        .as('r'),
    )
    .leftJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'r.org').onRef('e.room_id', '=', 'r.id'))
    .leftJoin('nodes as d', 'd.id', 'e.node_id')
    .leftJoin('endpoint_configs as c', (j) =>
      j.onRef('c.org', '=', 'e.org').onRef('c.endpoint_id', '=', 'e.id').on('c.state', '=', 'FAILED'),
    )
    .select(({ fn }) => [
      'r.org',
      'r.id',
      fn.count<number>('e.id').as('endpoints'),
      fn.coalesce(fn.sum<number>(isConnected), sql<number>`0`).as('connected'),
      fn.sum<number>(isIn(p, 'UNKNOWN')).as('unknown'),
      fn.sum<number>(isIn(p, 'ASLEEP')).as('asleep'),
      fn.count<number>('c.endpoint_id').as('failed'),
    ])
    .groupBy(['r.org', 'r.id'])
    .orderBy('r.org')
    .orderBy('r.id'),
)

/** Counts the endpoints that are in no room. The join with organisations lets both engines use the index of rooms. */
export const countEndpointsWithoutRoom = systemQuery((db, p: PresenceTimes) =>
  db
    .selectFrom('orgs as o')
    .innerJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'o.key').on('e.room_id', 'is', null))
    .leftJoin('nodes as d', 'd.id', 'e.node_id')
    .select(({ fn }) => [
      fn.countAll<number>().as('endpoints'),
      fn.sum<number>(isConnected).as('connected'),
      fn.sum<number>(isIn(p, 'UNKNOWN')).as('unknown'),
      fn.sum<number>(isIn(p, 'ASLEEP')).as('asleep'),
    ]),
)
