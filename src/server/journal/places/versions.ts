// Raises the version of every resource whose answer shows something of another resource that changed. [contract D.9]
//
// A statement that writes the columns of a resource raises the version of that resource itself, in the resource's
// store. This file raises the versions of the other resources that show the written values.

import type { Tx } from '../../db/handles.ts'
import { isAnyNumberOf } from '../../db/queries/any-of.ts'
import { write } from '../../db/queries/query.ts'

/** For each thing that can change: the statements that raise the versions of all answers that show it. */
const shownBy = {
  /** A region's answer lists its locations. The ids are those of regions. */
  locationsOfRegion: [(tx, ids) => forEach(ids, (id) => raiseRegion(tx, { id }))],
  /** Locations, and the rooms in them, show the name of their region. The ids are those of regions. */
  nameOfRegion: [
    (tx, ids) => forEach(ids, (region) => raiseLocationsInRegion(tx, { region })),
    (tx, ids) => forEach(ids, (region) => raiseRoomsInRegion(tx, { region })),
  ],
  /** Users show the ids of the regions that they are assigned to. The ids are those of regions. */
  usersOfRegion: [(tx, ids) => forEach(ids, (region) => raiseUsersOfRegion(tx, { region }))],
  /** Keys show the ids of the regions that they are limited to. The ids are those of regions. */
  keysOfRegion: [(tx, ids) => forEach(ids, (region) => raiseKeysOfRegion(tx, { region }))],
  /** Rooms show the name and the region of their location. The ids are those of locations. */
  location: [(tx, ids) => forEach(ids, (location) => raiseRoomsInLocation(tx, { location }))],
  /** A room's answer contains its endpoints. The ids are those of rooms. */
  endpointsOfRoom: [(tx, ids) => raiseRooms(tx, { ids })],
  /** Endpoints show the name of their room. The ids are those of rooms. */
  nameOfRoom: [(tx, ids) => forEach(ids, (room) => raiseEndpointsInRoom(tx, { room }))],
} as const satisfies Record<string, readonly RaiseStatement[]>

type RaiseStatement = (tx: Tx, ids: readonly number[]) => Promise<unknown>
type Changeable = keyof typeof shownBy

/** Ids of what changed. An absent id, such as that of a location without a region, is skipped. */
export type ChangedIds = Partial<Record<Changeable, readonly (number | null | undefined)[]>>

/** Raises the versions of everything that shows what changed, in the order of the table. */
export async function raiseResourceVersions(tx: Tx, changed: ChangedIds): Promise<void> {
  for (const [name, statements] of Object.entries(shownBy)) {
    const ids = [...new Set(changed[name as Changeable])].filter((id) => typeof id === 'number')
    if (ids.length === 0) continue
    for (const raise of statements) await raise(tx, ids)
  }
}

async function forEach(ids: readonly number[], raise: (id: number) => Promise<unknown>): Promise<void> {
  for (const id of ids) await raise(id)
}

// Most statements name one id in an equality, because the response cache then invalidates only the rows of that id.

const raiseRegion = write((db, p: { org: number; id: number }) =>
  db
    .updateTable('regions')
    .set((e) => ({ version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

const raiseLocationsInRegion = write((db, p: { org: number; region: number }) =>
  db
    .updateTable('locations')
    .set((e) => ({ version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('region_id', '=', p.region),
)

const raiseRoomsInRegion = write((db, p: { org: number; region: number }) =>
  db
    .updateTable('rooms')
    .set((e) => ({ version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('location_id', 'in', (q) =>
      q.selectFrom('locations').select('id').where('org', '=', p.org).where('region_id', '=', p.region),
    ),
)

const raiseUsersOfRegion = write((db, p: { org: number; region: number }) =>
  db
    .updateTable('users')
    .set((e) => ({ version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', 'in', (q) =>
      q.selectFrom('user_regions').select('user_id').where('org', '=', p.org).where('region_id', '=', p.region),
    ),
)

const raiseKeysOfRegion = write((db, p: { org: number; region: number }) =>
  db
    .updateTable('api_keys')
    .set((e) => ({ version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', 'in', (q) =>
      q.selectFrom('key_regions').select('key_id').where('org', '=', p.org).where('region_id', '=', p.region),
    ),
)

const raiseRoomsInLocation = write((db, p: { org: number; location: number }) =>
  db
    .updateTable('rooms')
    .set((e) => ({ version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('location_id', '=', p.location),
)

const raiseRooms = write((db, p: { org: number; ids: readonly number[] }, engine) =>
  db
    .updateTable('rooms')
    .set((e) => ({ version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where(isAnyNumberOf(engine, 'id', p.ids)),
)

const raiseEndpointsInRoom = write((db, p: { org: number; room: number }) =>
  db
    .updateTable('endpoints')
    .set((e) => ({ version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('room_id', '=', p.room),
)
