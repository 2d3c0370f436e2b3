// SQL of endpoints, as far as rooms and profiles need it.
import type { Selectable } from 'kysely'
import type { Reader, Tx } from '../../platform/db/db.ts'
import { query, queryOne } from '../../platform/db/query.ts'
import type { Schema } from '../../platform/db/schema.ts'

export type EndpointRow = Omit<Selectable<Schema['endpoints']>, 'org'>

const inRoom = query((db, p: { org: number; room: number }) =>
  db
    .selectFrom('endpoints')
    .select([
      'id',
      'version',
      'serial',
      'pairing_serial',
      'model',
      'room_id',
      'profile_id',
      'connected',
      'connection_time',
      'enrolment_time',
      'status',
    ])
    .where('org', '=', p.org)
    .where('room_id', '=', p.room)
    .orderBy('id'),
)
export const listEndpointsInRoom = (on: Reader, org: number, room: number) => inRoom(on, { org, room })

const withProfile = queryOne((db, p: { org: number; profile: number }) =>
  db.selectFrom('endpoints').select('id').where('org', '=', p.org).where('profile_id', '=', p.profile).limit(1),
)
export const hasEndpointWithProfile = async (on: Reader, org: number, profile: number) =>
  (await withProfile(on, { org, profile })) !== undefined

const giveProfile = query((db, p: { org: number; room: number; profile: number | null }) =>
  db
    .updateTable('endpoints')
    .set((e) => ({ profile_id: p.profile, version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('room_id', '=', p.room)
    .returning(['id', 'serial']),
)
export const updateProfileInRoom = (tx: Tx, org: number, room: number, profile: number | null) =>
  giveProfile(tx, { org, room, profile })

const touch = query((db, p: { org: number; room: number }) =>
  db
    .updateTable('endpoints')
    .set((e) => ({ version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('room_id', '=', p.room),
)
/** An endpoint shows the name of its room: its version moves with it. [contract D.9] */
export const touchEndpointsInRoom = (tx: Tx, org: number, room: number) => touch(tx, { org, room })

const remove = query((db, p: { org: number; room: number }) =>
  db.deleteFrom('endpoints').where('org', '=', p.org).where('room_id', '=', p.room).returning(['id', 'serial']),
)
export const deleteEndpointsInRoom = (tx: Tx, org: number, room: number) => remove(tx, { org, room })
