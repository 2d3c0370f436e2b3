// Holds the SQL with which waiting messages are found, numbered and finished. [contract 10.delivery]

import { sql } from 'kysely'
import { isAnyNumberOf, isAnyOf } from '../../../db/queries/any-of.ts'
import { jsonRows } from '../../../db/queries/json-rows.ts'
import { query, queryOne, writeTelemetry, writeTelemetryOne } from '../../../db/queries/query.ts'

/** The enabled channels, each with the time at which the next of its messages is due. */
export const listEnabledChannels = query((db, p: { org: number }) =>
  db
    .selectFrom('channels as c')
    .select(['c.id', 'c.kind', 'c.settings', 'c.heartbeat_at'])
    .select((e) =>
      e
        .selectFrom('deliveries as d')
        .select((d) => d.fn.min('d.next_at').as('next_at'))
        .whereRef('d.org', '=', 'c.org')
        .whereRef('d.channel_id', '=', 'c.id')
        .where('d.state', '=', sql.lit('WAITING'))
        .as('next_at'),
    )
    .where('c.org', '=', p.org)
    .where('c.enabled', '=', 1)
    .orderBy('c.id'),
)

export const findEnabledChannel = queryOne((db, p: { org: number; id: number }) =>
  db.selectFrom('channels').selectAll().where('org', '=', p.org).where('id', '=', p.id).where('enabled', '=', 1),
)

export const findEnabledVersion = queryOne((db, p: { org: number; id: number }) =>
  db.selectFrom('channels').select('version').where('org', '=', p.org).where('id', '=', p.id).where('enabled', '=', 1),
)

interface DueRequest {
  readonly org: number
  readonly channel: number
  readonly now: number
  readonly limit: number
}

/** The messages that are due, those that are due for longest first. */
export const listDueMessages = query((db, p: DueRequest) =>
  db
    .selectFrom('deliveries as d')
    .innerJoin('messages as m', 'm.number', 'd.message')
    .select(['d.message', 'd.sequence', 'd.attempts', 'd.next_at'])
    .select(['m.id', 'm.type', 'm.order_key', 'm.incident_id', 'm.data', 'm.created_at'])
    .where('d.org', '=', p.org)
    .where('d.channel_id', '=', p.channel)
    .where('d.state', '=', sql.lit('WAITING'))
    .where('d.next_at', '<=', p.now)
    .orderBy('d.next_at')
    .orderBy('d.message')
    .limit(p.limit),
)
export type DueRow = Awaited<ReturnType<typeof listDueMessages>>[number]

/** The messages with these order keys that wait and are older than `before`. */
export const listWaitingOf = query(
  (db, p: { org: number; channel: number; orderKeys: readonly string[]; before: number }, engine) =>
    db
      .selectFrom('messages as m')
      .innerJoin('deliveries as d', 'd.message', 'm.number')
      .select(['m.order_key', 'm.created_at', 'd.message', 'd.attempts', 'd.next_at'])
      .where('m.org', '=', p.org)
      .where(isAnyOf(engine, 'm.order_key', p.orderKeys))
      .where('m.number', '<', p.before)
      .where('m.number', '>=', (e) =>
        e
          .selectFrom('deliveries as f')
          .select((f) => f.fn.min('f.message').as('first'))
          .where('f.org', '=', p.org)
          .where('f.channel_id', '=', p.channel)
          .where('f.state', '=', sql.lit('WAITING')),
      )
      .where('d.org', '=', p.org)
      .where('d.channel_id', '=', p.channel)
      .where('d.state', '=', sql.lit('WAITING')),
)

/** Lists the given messages that wait and have no sequence yet. */
export const listUnnumbered = query((db, p: { org: number; channel: number; messages: readonly number[] }, engine) =>
  db
    .selectFrom('deliveries')
    .select('message')
    .where('org', '=', p.org)
    .where('channel_id', '=', p.channel)
    .where(isAnyNumberOf(engine, 'message', p.messages))
    .where('state', '=', sql.lit('WAITING'))
    .where('sequence', 'is', null)
    .orderBy('message'),
)

export const raiseSequence = writeTelemetryOne((db, p: { org: number; channel: number; count: number }) =>
  db
    .updateTable('channels')
    .set((e) => ({ last_sequence: e('last_sequence', '+', p.count) }))
    .where('org', '=', p.org)
    .where('id', '=', p.channel)
    .returning('last_sequence'),
)

/** The numbers are pairs of message and sequence. */
export const updateSequences = writeTelemetry(
  (db, p: { org: number; channel: number; numbers: readonly (readonly [number, number])[] }, engine) => {
    const pairs = jsonRows(engine, p.numbers, { message: 'integer', sequence: 'integer' })
    return db
      .updateTable('deliveries')
      .set({ sequence: sql`(select n.sequence from ${pairs} n where n.message = deliveries.message)` })
      .where('org', '=', p.org)
      .where('channel_id', '=', p.channel)
      .where('message', 'in', sql<number>`(select n.message from ${pairs} n)`)
  },
)

interface FinishedAttempt {
  readonly org: number
  readonly channel: number
  readonly message: number
  readonly now: number
  readonly status: number | null
  readonly error: string | null
}

export const updateDelivered = writeTelemetry((db, p: FinishedAttempt) =>
  db
    .updateTable('deliveries')
    .set((e) => ({
      state: 'DELIVERED',
      attempts: e('attempts', '+', 1),
      next_at: null,
      status: p.status,
      error: p.error,
      delivered_at: p.now,
    }))
    .where('org', '=', p.org)
    .where('channel_id', '=', p.channel)
    .where('message', '=', p.message)
    .where('state', '=', sql.lit('WAITING')),
)

export const updateFailed = writeTelemetry((db, p: FinishedAttempt & { nextAt: number }) =>
  db
    .updateTable('deliveries')
    .set((e) => ({ attempts: e('attempts', '+', 1), next_at: p.nextAt, status: p.status, error: p.error }))
    .where('org', '=', p.org)
    .where('channel_id', '=', p.channel)
    .where('message', '=', p.message)
    .where('state', '=', sql.lit('WAITING')),
)

/** Lets the messages with an order key that are newer than `message` wait until the same time, because they come after it. */
export const postponeFollowers = writeTelemetry(
  (db, p: { org: number; channel: number; orderKey: string; message: number; nextAt: number }) =>
    db
      .updateTable('deliveries')
      .set({ next_at: p.nextAt })
      .where('org', '=', p.org)
      .where('channel_id', '=', p.channel)
      .where('state', '=', sql.lit('WAITING'))
      .where('next_at', '<', p.nextAt)
      .where('message', 'in', (e) =>
        e
          .selectFrom('messages')
          .select('number')
          .where('org', '=', p.org)
          .where('order_key', '=', p.orderKey)
          .where('number', '>', p.message),
      ),
)

export const postpone = writeTelemetry(
  (db, p: { org: number; channel: number; messages: readonly number[]; nextAt: number }, engine) =>
    db
      .updateTable('deliveries')
      .set({ next_at: p.nextAt })
      .where('org', '=', p.org)
      .where('channel_id', '=', p.channel)
      .where(isAnyNumberOf(engine, 'message', p.messages))
      .where('state', '=', sql.lit('WAITING')),
)

/** A message that was never attempted has no sequence, and only such a message can be cancelled. */
export const cancelMessages = writeTelemetry(
  (db, p: { org: number; channel: number; messages: readonly number[]; error: string }, engine) =>
    db
      .updateTable('deliveries')
      .set({ state: 'CANCELLED', next_at: null, error: p.error })
      .where('org', '=', p.org)
      .where('channel_id', '=', p.channel)
      .where(isAnyNumberOf(engine, 'message', p.messages))
      .where('state', '=', sql.lit('WAITING'))
      .where('sequence', 'is', null)
      .returning('message'),
)

interface EndedIncident {
  readonly org: number
  readonly channel: number
  readonly incident: number
  readonly orderKey: string
  readonly until: number
  readonly error: string
}

/**
 * Cancels what was never attempted about an incident, up to a time. The same statement looks at the state, because the incident may
 * have been reopened since it was read.
 */
export const cancelEnded = writeTelemetry((db, p: EndedIncident) =>
  db
    .updateTable('deliveries')
    .set({ state: 'CANCELLED', next_at: null, error: p.error })
    .where('org', '=', p.org)
    .where('channel_id', '=', p.channel)
    .where('state', '=', sql.lit('WAITING'))
    .where('sequence', 'is', null)
    .where('message', 'in', (e) =>
      e
        .selectFrom('messages')
        .select('number')
        .where('org', '=', p.org)
        .where('order_key', '=', p.orderKey)
        .where('created_at', '<=', p.until),
    )
    .where((e) =>
      e.exists(
        e
          .selectFrom('incidents')
          .select('id')
          .where('org', '=', p.org)
          .where('id', '=', p.incident)
          .where('state', 'in', ['RESOLVED', 'MERGED']),
      ),
    )
    .returning('message'),
)

export const updateChannelDelivered = writeTelemetry((db, p: { org: number; id: number; now: number }) =>
  db
    .updateTable('channels')
    .set({ delivered_at: p.now, failing_since: null, last_error: null })
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

/** Returns since when the channel has been failing. */
export const updateChannelFailed = writeTelemetryOne((db, p: { org: number; id: number; now: number; error: string }) =>
  db
    .updateTable('channels')
    .set((e) => ({ failing_since: e.fn.coalesce('failing_since', sql<number>`${p.now}`), last_error: p.error }))
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .returning('failing_since'),
)

export const disableChannel = writeTelemetry((db, p: { org: number; id: number; reason: string }) =>
  db
    .updateTable('channels')
    .set((e) => ({ enabled: 0, disabled_reason: p.reason, version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where('enabled', '=', 1),
)
