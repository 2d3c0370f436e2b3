// Holds the SQL that writes messages with their deliveries.

import { sql } from 'kysely'
import { isAnyNumberOf, isAnyOf } from '../../db/queries/any-of.ts'
import { queryExists, wholeQuery, writeAny, writeTelemetry } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'

/** Finds endpoints with the place that messages about them name, whichever regions the caller sees. */
export const listEndpointsOfMessages = wholeQuery((db, p: { org: number; ids: readonly string[] }, engine) =>
  db
    .selectFrom('endpoints as e')
    .leftJoin('rooms as r', (j) => j.onRef('r.org', '=', 'e.org').onRef('r.id', '=', 'e.room_id'))
    .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
    .select(['e.id', 'e.serial', 'e.model', 'e.name', 'e.room_id as roomId'])
    .select(['r.location_id as locationId', 'l.region_id as regionId'])
    .where('e.org', '=', p.org)
    .where(isAnyOf(engine, 'e.id', p.ids)),
)
export type EndpointOfMessage = Awaited<ReturnType<typeof listEndpointsOfMessages>>[number]

type MessageType = DatabaseSchema['messages']['type']

export interface NewMessage {
  readonly org: number
  readonly id: string
  readonly type: MessageType
  readonly orderKey: string
  readonly incidentId: number | null
  readonly data: string
  readonly at: number
  /** The time of the first attempt. */
  readonly nextAt: number
  readonly channels: readonly number[]
}

/**
 * Writes a message and a delivery for each channel with one statement. The lock on the channels makes a deletion that happens at the
 * same time either wait or be seen; without it the foreign key would refuse the whole commit.
 */
export const insertMessage = writeAny((db, p: NewMessage, engine) =>
  engine === 'sqlite'
    ? db.insertInto('new_messages').values({
        org: p.org,
        id: p.id,
        type: p.type,
        order_key: p.orderKey,
        incident_id: p.incidentId,
        data: p.data,
        created_at: p.at,
        next_at: p.nextAt,
        channels: p.channels as unknown as string,
      })
    : db
        .with('receivers', (q) =>
          q
            .selectFrom('channels')
            .select('id')
            .where('org', '=', p.org)
            .where(isAnyNumberOf(engine, 'id', p.channels))
            .forKeyShare(),
        )
        .with('written', (q) =>
          q
            .insertInto('messages')
            .columns(['org', 'id', 'type', 'order_key', 'incident_id', 'data', 'created_at'])
            .expression(
              q
                .selectNoFrom([
                  sql<number>`${p.org}::integer`.as('org'),
                  sql<string>`${p.id}::text`.as('id'),
                  sql<MessageType>`${p.type}::text`.as('type'),
                  sql<string>`${p.orderKey}::text`.as('order_key'),
                  sql<number | null>`${p.incidentId}::integer`.as('incident_id'),
                  sql<string>`${p.data}::text`.as('data'),
                  sql<number>`${p.at}::bigint`.as('created_at'),
                ])
                .where((w) => w.exists(q.selectFrom('receivers').select('id'))),
            )
            .returning('number'),
        )
        .insertInto('deliveries')
        .columns(['org', 'channel_id', 'message', 'state', 'next_at'])
        .expression((e) =>
          e
            .selectFrom(['written', 'receivers'])
            .select([
              sql<number>`${p.org}::integer`.as('org'),
              'receivers.id',
              'written.number',
              sql<'WAITING'>`'WAITING'`.as('state'),
              sql<number>`${p.nextAt}::bigint`.as('next_at'),
            ]),
        ),
)

/** Whether a message with this order key was written, and is still kept. */
export const hasMessage = queryExists((db, p: { org: number; orderKey: string }) =>
  db.selectFrom('messages').select('number').where('org', '=', p.org).where('order_key', '=', p.orderKey).limit(1),
)

/** Marks the announcements of an incident whose size was at most `maxSize`, and returns their channels. Each is marked once. */
export const markGrown = writeTelemetry((db, p: { org: number; incident: number; maxSize: number }) =>
  db
    .updateTable('announced_incidents')
    .set({ has_grown: 1 })
    .where('org', '=', p.org)
    .where('incident_id', '=', p.incident)
    .where('has_grown', '=', 0)
    .where('size', '>', 0)
    .where('size', '<=', p.maxSize)
    .returning('channel_id'),
)

/** Makes unattempted deliveries with this order key due now, for all channels. */
export const makeUnattemptedDue = writeTelemetry((db, p: { org: number; orderKey: string; now: number }) =>
  db
    .updateTable('deliveries')
    .set({ next_at: p.now })
    .where('org', '=', p.org)
    .where('state', '=', sql.lit('WAITING'))
    .where('sequence', 'is', null)
    .where('next_at', '>', p.now)
    .where('message', 'in', (e) =>
      e.selectFrom('messages').select('number').where('org', '=', p.org).where('order_key', '=', p.orderKey),
    ),
)
