// Holds the SQL of deliveries as people see them: the list, replays, and what an edit of a channel makes due.

import { type Selectable, sql } from 'kysely'
import { isAnyNumberOf, isAnyOf, isIn } from '../db/queries/any-of.ts'
import { jsonRows } from '../db/queries/json-rows.ts'
import { query, queryOne, write, writeAny } from '../db/queries/query.ts'
import type { DatabaseSchema } from '../db/schema/schema.ts'

type Message = Selectable<DatabaseSchema['messages']>
type Delivery = Selectable<DatabaseSchema['deliveries']>
export type DeliveryRow = Pick<Message, 'id' | 'number' | 'type' | 'incident_id' | 'created_at'> &
  Omit<Delivery, 'org' | 'replayed_at' | 'type' | 'data'>

interface DeliveryWindow {
  readonly org: number
  readonly channel: number
  /** The states to read. */
  readonly states: readonly string[]
  readonly from: number
  readonly to: number
  /** The query returns the deliveries of messages with lower numbers. */
  readonly before: number
  readonly limit: number
}

const columns = [
  'm.id',
  'm.number',
  'm.incident_id',
  'm.created_at',
  'd.channel_id',
  'd.message',
  'd.sequence',
  'd.state',
  'd.attempts',
  'd.next_at',
  'd.status',
  'd.error',
  'd.delivered_at',
] as const

/** Newest first. */
export const listDeliveries = query((db, p: DeliveryWindow, engine) =>
  db
    .selectFrom('deliveries as d')
    .innerJoin('messages as m', 'm.number', 'd.message')
    .select(columns)
    .select((e) => e.fn.coalesce('d.type', 'm.type').as('type'))
    .where('d.org', '=', p.org)
    .where('d.channel_id', '=', p.channel)
    .where('d.message', '<', p.before)
    .where('m.created_at', '>=', p.from)
    .where('m.created_at', '<', p.to)
    .where(isAnyOf(engine, 'd.state', p.states))
    .orderBy('d.message', 'desc')
    .limit(p.limit),
)

export const findDelivery = queryOne((db, p: { org: number; channel: number; id: string }) =>
  db
    .selectFrom('deliveries as d')
    .innerJoin('messages as m', 'm.number', 'd.message')
    .select(columns)
    .select((e) => e.fn.coalesce('d.type', 'm.type').as('type'))
    .where('d.org', '=', p.org)
    .where('d.channel_id', '=', p.channel)
    .where('m.id', '=', p.id)
    // The message is a new one, so that the search is short.
    .orderBy('d.message', 'desc')
    .limit(1),
)

interface ReplayWindow extends Omit<DeliveryWindow, 'before'> {
  readonly now: number
  /** Openings of incidents that are younger stay as they are: they wait for a minute. */
  readonly openedBefore: number
}

const restarted = (now: number) =>
  ({
    state: 'WAITING',
    attempts: 0,
    next_at: now,
    replayed_at: now,
    status: null,
    error: null,
    delivered_at: null,
  }) as const

/** Lets deliveries of a window start again, the oldest first. The message, its id and its sequence stay. */
export const restartDeliveries = write((db, p: ReplayWindow, engine) => {
  const chosen = db
    .selectFrom('deliveries as d')
    .innerJoin('messages as m', 'm.number', 'd.message')
    .select('d.message')
    .where('d.org', '=', p.org)
    .where('d.channel_id', '=', p.channel)
    .where('m.created_at', '>=', p.from)
    .where('m.created_at', '<', p.to)
    .where(isAnyOf(engine, 'd.state', p.states))
    .where((e) => e.or([e('m.type', '<>', 'incident.opened'), e('m.created_at', '<=', p.openedBefore)]))
    .orderBy('d.message')
    .limit(p.limit)
  return db
    .updateTable('deliveries')
    .set(restarted(p.now))
    .where('org', '=', p.org)
    .where('channel_id', '=', p.channel)
    .where(isIn(engine, sql`message`, sql`${chosen}`))
    .returning('message')
})

/** Reads the contents of the digests among the messages. */
export const listDigests = query((db, p: { org: number; messages: readonly number[] }, engine) =>
  db
    .selectFrom('messages')
    .select(['number', 'data'])
    .where('org', '=', p.org)
    .where('type', '=', 'incident.digest')
    .where(isAnyNumberOf(engine, 'number', p.messages)),
)

/**
 * Also restarts what was sent later about the same incidents: otherwise a receiver would believe that an incident is open again. `digested`
 * has the order key of each incident that a digest names, and the number of the digest; a digest that announced more than it names left
 * rows in `announced_incidents`.
 */
export const restartLater = write(
  (
    db,
    p: {
      org: number
      channel: number
      messages: readonly number[]
      digested: readonly (readonly [string, number])[]
      now: number
    },
    engine,
  ) => {
    const digested = jsonRows<{ order_key: string; number: number }>(engine, p.digested, {
      order_key: 'text',
      number: 'integer',
    })
    const first = sql`select order_key, min(number) as number from messages
      where org = ${p.org} and incident_id is not null and ${isAnyNumberOf(engine, 'number', p.messages)} group by order_key
      union all select order_key, number from ${digested} as digested
      union all select 'incident ' || incident_id, message from announced_incidents
      where org = ${p.org} and channel_id = ${p.channel} and ${isAnyNumberOf(engine, 'message', p.messages)}`
    const later = sql`select m.number from (${first}) f join messages m on m.order_key = f.order_key and m.number > f.number
      where m.org = ${p.org}`
    return db
      .updateTable('deliveries')
      .set(restarted(p.now))
      .where('org', '=', p.org)
      .where('channel_id', '=', p.channel)
      .where('state', 'in', ['DELIVERED', 'GIVEN_UP'])
      .where('sequence', 'is not', null)
      .where(isIn(engine, sql`message`, later))
      .returning('message')
  },
)

interface DueWindow {
  readonly org: number
  readonly channel: number
  readonly now: number
  /** Openings of incidents that were written between these times stay as they are: they wait for a minute. */
  readonly openedBefore: number
  readonly openedUntil: number
  readonly limit: number
}

/** Makes the oldest of what waits due immediately, and returns what changed. */
export const makeDue = writeAny((db, p: DueWindow, engine) => {
  const chosen = db
    .selectFrom('deliveries')
    .select('message')
    .where('org', '=', p.org)
    .where('channel_id', '=', p.channel)
    .where('state', '=', sql.lit('WAITING'))
    .where('next_at', '>', p.now)
    .where('message', 'not in', (e) =>
      e
        .selectFrom('messages')
        .select('number')
        .where('org', '=', p.org)
        .where('type', '=', sql.lit('incident.opened'))
        .where('created_at', '>', p.openedBefore)
        .where('created_at', '<=', p.openedUntil),
    )
    .orderBy('message')
    .limit(p.limit)
  return db
    .updateTable('deliveries')
    .set({ next_at: p.now })
    .where('org', '=', p.org)
    .where('channel_id', '=', p.channel)
    .where('state', '=', sql.lit('WAITING'))
    .where(isIn(engine, sql`message`, sql`${chosen}`))
    .returning('message')
})
