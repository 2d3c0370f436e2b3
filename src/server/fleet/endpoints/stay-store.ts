// SQL of stays: which endpoint was in which room, and when. The history of a room consists of them.

import { sql } from 'kysely'
import type { EngineName } from '../../db/engine.ts'
import type { Tx } from '../../db/handles.ts'
import { isAnyOf } from '../../db/queries/any-of.ts'
import { write } from '../../db/queries/query.ts'

const ofEndpoint = <T>(value: string) =>
  sql<T>`(select ${sql.raw(value)} from endpoints e where e.org = endpoint_rooms.org and e.number = endpoint_rooms.endpoint)`

/** A stay that ends keeps what its endpoint is at that time: the endpoint may be deleted, or change. [contract 10.past] */
const ended = (engine: EngineName, at: number) => ({
  until: at,
  serial: ofEndpoint<string>('e.serial'),
  model: ofEndpoint<string>('e.model'),
  reported_kind: ofEndpoint<string | null>(
    engine === 'postgres' ? `e.status::jsonb ->> 'kind'` : `e.status ->> '$.kind'`,
  ),
  presence_only: ofEndpoint<number>('e.presence_only'),
})

interface Stay {
  org: number
  ids: readonly string[]
  room: number
  at: number
}

const endOtherStays = write((db, p: Stay, engine) =>
  db
    .updateTable('endpoint_rooms')
    .set(ended(engine, p.at))
    .where('org', '=', p.org)
    .where('until', 'is', null)
    .where('room_id', '!=', p.room)
    .where('endpoint', 'in', (e) =>
      e
        .selectFrom('endpoints')
        .select('number')
        .where('org', '=', p.org)
        .where(isAnyOf(engine, 'id', p.ids)),
    ),
)
const startStay = write((db, p: Stay, engine) =>
  db
    .insertInto('endpoint_rooms')
    .columns(['org', 'endpoint', 'since', 'room_id', 'endpoint_id'])
    .expression((q) =>
      q
        .selectFrom('endpoints as e')
        .select(({ exists, selectFrom }) => [
          'e.org',
          'e.number',
          // Samples from before the first stay count for the room of the first stay, so that stay starts at 0. [contract D.35]
          sql<number>`case when ${exists(
            selectFrom('endpoint_rooms as r')
              .select('r.since')
              .whereRef('r.org', '=', 'e.org')
              .whereRef('r.endpoint', '=', 'e.number'),
          )} then cast(${p.at} as bigint) else 0 end`.as('since'),
          sql<number>`cast(${p.room} as integer)`.as('room_id'),
          'e.id',
        ])
        .where('e.org', '=', p.org)
        .where(isAnyOf(engine, 'e.id', p.ids))
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('endpoint_rooms as r')
                .select('r.since')
                .whereRef('r.org', '=', 'e.org')
                .whereRef('r.endpoint', '=', 'e.number')
                .where('r.until', 'is', null),
            ),
          ),
        ),
    )
    // After two moves within a second only the last one counts.
    .onConflict((c) =>
      c.columns(['org', 'endpoint', 'since']).doUpdateSet((e) => ({ room_id: e.ref('excluded.room_id'), until: null })),
    ),
)
/** Ends the stays of these endpoints in other rooms, and starts one in this room. `at` is in milliseconds. */
export async function insertStay(tx: Tx, ids: readonly string[], room: number, at: number): Promise<void> {
  const stay = { ids, room, at: Math.floor(at / 1000) }
  await endOtherStays(tx, stay)
  await startStay(tx, stay)
}

const endStay = write((db, p: { org: number; id: string; at: number }, engine) =>
  db
    .updateTable('endpoint_rooms')
    .set(ended(engine, p.at))
    .where('org', '=', p.org)
    .where('until', 'is', null)
    .where('endpoint', 'in', (e) =>
      e.selectFrom('endpoints').select('number').where('org', '=', p.org).where('id', '=', p.id),
    ),
)
/** Ends the stay of an endpoint. Call it before the endpoint is deleted. */
export const updateStayEnded = (tx: Tx, id: string, at: number) => endStay(tx, { id, at: Math.floor(at / 1000) })

const endStaysInRoom = write((db, p: { org: number; room: number; at: number }, engine) =>
  db
    .updateTable('endpoint_rooms')
    .set(ended(engine, p.at))
    .where('org', '=', p.org)
    .where('room_id', '=', p.room)
    .where('until', 'is', null),
)
export const updateStaysEnded = (tx: Tx, room: number, at: number) =>
  endStaysInRoom(tx, { room, at: Math.floor(at / 1000) })
