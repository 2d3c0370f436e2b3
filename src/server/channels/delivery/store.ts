// Holds the SQL with which waiting messages are found, numbered and finished. [contract 10.delivery]

import { type ExpressionBuilder, sql } from 'kysely'
import { isAnyNumberOf, isAnyOf } from '../../db/queries/any-of.ts'
import { jsonRows } from '../../db/queries/json-rows.ts'
import { query, queryOne, writeTelemetry, writeTelemetryOne } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'

type Db = Parameters<Parameters<typeof query>[0]>[0]

/** The enabled channels, each with the earliest and the latest time at which a message of it is due. */
export const listEnabledChannels = query((db, p: { org: number }) => {
  const waiting = (e: ExpressionBuilder<DatabaseSchema & { c: DatabaseSchema['channels'] }, 'c'>) =>
    e
      .selectFrom('deliveries as d')
      .whereRef('d.org', '=', 'c.org')
      .whereRef('d.channel_id', '=', 'c.id')
      .where('d.state', '=', sql.lit('WAITING'))
  return db
    .selectFrom('channels as c')
    .select(['c.id', 'c.kind', 'c.settings', 'c.heartbeat_at', 'c.delivered_at', 'c.failing_since'])
    .select((e) => [
      waiting(e)
        .select((d) => d.fn.min('d.next_at').as('next_at'))
        .as('next_at'),
      waiting(e)
        .select((d) => d.fn.max('d.next_at').as('last_at'))
        .as('last_at'),
    ])
    .where('c.org', '=', p.org)
    .where('c.enabled', '=', 1)
    .orderBy('c.id')
})

/** When the newest message of a channel was written. */
export const findNewestTime = queryOne((db, p: { org: number; channel: number }) =>
  db
    .selectFrom('deliveries as d')
    .innerJoin('messages as m', 'm.number', 'd.message')
    .select('m.created_at')
    .where('d.org', '=', p.org)
    .where('d.channel_id', '=', p.channel)
    .orderBy('d.message', 'desc')
    .limit(1),
)

/** Replaces a channel's future times with now. */
export const repairChannelTimes = writeTelemetry((db, p: { org: number; id: number; now: number }) =>
  db
    .updateTable('channels')
    .set((e) => ({
      delivered_at: e.case().when('delivered_at', '>', p.now).then(p.now).else(e.ref('delivered_at')).end(),
      failing_since: e.case().when('failing_since', '>', p.now).then(p.now).else(e.ref('failing_since')).end(),
    }))
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where((e) => e.or([e('delivered_at', '>', p.now), e('failing_since', '>', p.now)])),
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

/** Retries and replays repeat the type and the content of the first attempt. */
const withMessages = (db: Db) =>
  db
    .selectFrom('deliveries as d')
    .innerJoin('messages as m', 'm.number', 'd.message')
    .select(['d.message', 'd.sequence', 'd.attempts', 'd.next_at', 'd.replayed_at'])
    .select(['m.id', 'm.order_key', 'm.incident_id', 'm.created_at'])
    .select((e) => [e.fn.coalesce('d.type', 'm.type').as('type'), e.fn.coalesce('d.data', 'm.data').as('data')])

/** The messages that are due, those that are due for longest first. */
export const listDueMessages = query((db, p: DueRequest) =>
  withMessages(db)
    .where('d.org', '=', p.org)
    .where('d.channel_id', '=', p.channel)
    .where('d.state', '=', sql.lit('WAITING'))
    .where('d.next_at', '<=', p.now)
    .orderBy('d.next_at')
    .orderBy('d.message')
    .limit(p.limit),
)
export type DueRow = Awaited<ReturnType<typeof listDueMessages>>[number]

/** The newest message of a channel with an order key. */
export const findNewestMessage = queryOne((db, p: { org: number; channel: number; orderKey: string }) =>
  withMessages(db)
    .where('d.org', '=', p.org)
    .where('d.channel_id', '=', p.channel)
    .where('m.org', '=', p.org)
    .where('m.order_key', '=', p.orderKey)
    .orderBy('m.number', 'desc')
    .limit(1),
)

/** The messages with these order keys that wait and are older than `before`. */
export const listWaitingOf = query(
  (db, p: { org: number; channel: number; orderKeys: readonly string[]; before: number }, engine) =>
    db
      .selectFrom('messages as m')
      .innerJoin('deliveries as d', 'd.message', 'm.number')
      .select(['m.type', 'm.order_key', 'm.incident_id', 'm.created_at'])
      .select(['d.message', 'd.attempts', 'd.next_at', 'd.sequence', 'd.replayed_at'])
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

interface FirstAttempt {
  readonly message: number
  readonly sequence: number
  /** Null if the message is sent as it was written. */
  readonly type: string | null
  readonly data: string | null
}

/** Each row is a message with its sequence, and the type and the content with which it is attempted. */
export const updateFirstAttempts = writeTelemetry(
  (
    db,
    p: { org: number; channel: number; rows: readonly (readonly [number, number, string | null, string | null])[] },
    engine,
  ) => {
    const first = jsonRows<FirstAttempt>(engine, p.rows, {
      message: 'integer',
      sequence: 'integer',
      type: 'text',
      data: 'text',
    })
    return db
      .updateTable('deliveries')
      .from(first.as('f'))
      .set((e) => ({
        sequence: e.ref('f.sequence'),
        type: e.ref('f.type').$castTo<DatabaseSchema['deliveries']['type']>(),
        data: e.ref('f.data'),
      }))
      .where('deliveries.org', '=', p.org)
      .where('deliveries.channel_id', '=', p.channel)
      .whereRef('deliveries.message', '=', 'f.message')
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

interface PostponedDelivery {
  readonly message: number
  readonly seen_at: number
  readonly next_at: number
}

/**
 * Each row is a message, the time at which it was due when that was decided, and the time until which it waits. A message that was made due
 * since, for example because its incident became critical, stays due.
 */
export const postpone = writeTelemetry(
  (db, p: { org: number; channel: number; rows: readonly (readonly [number, number, number])[] }, engine) =>
    db
      .updateTable('deliveries')
      .from(
        jsonRows<PostponedDelivery>(engine, p.rows, { message: 'integer', seen_at: 'bigint', next_at: 'bigint' }).as(
          'p',
        ),
      )
      .set((e) => ({ next_at: e.ref('p.next_at') }))
      .where('deliveries.org', '=', p.org)
      .where('deliveries.channel_id', '=', p.channel)
      .whereRef('deliveries.message', '=', 'p.message')
      .whereRef('deliveries.next_at', '=', 'p.seen_at')
      .where('deliveries.state', '=', sql.lit('WAITING')),
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

/**
 * Cancels what was never attempted about an incident that has ended. The same statement looks at the state, because the incident may have
 * been reopened since it was read.
 */
export const cancelUntold = writeTelemetry(
  (db, p: { org: number; channel: number; incident: number; orderKey: string; error: string }) =>
    db
      .updateTable('deliveries')
      .set({ state: 'CANCELLED', next_at: null, error: p.error })
      .where('org', '=', p.org)
      .where('channel_id', '=', p.channel)
      .where('state', '=', sql.lit('WAITING'))
      .where('sequence', 'is', null)
      .where('message', 'in', (e) =>
        e.selectFrom('messages').select('number').where('org', '=', p.org).where('order_key', '=', p.orderKey),
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

interface OutdatedMessage {
  readonly org: number
  readonly channel: number
  readonly message: number
  readonly incident: number
  /** The states that the incident must still have. */
  readonly states: readonly string[]
  readonly error: string
}

/** Cancels a message that was never attempted, while its incident is in one of the states. */
export const cancelOutdated = writeTelemetry((db, p: OutdatedMessage, engine) =>
  db
    .updateTable('deliveries')
    .set({ state: 'CANCELLED', next_at: null, error: p.error })
    .where('org', '=', p.org)
    .where('channel_id', '=', p.channel)
    .where('message', '=', p.message)
    .where('state', '=', sql.lit('WAITING'))
    .where('sequence', 'is', null)
    .where((e) =>
      e.exists(
        e
          .selectFrom('incidents as i')
          .select('i.id')
          .where('i.org', '=', p.org)
          .where('i.id', '=', p.incident)
          .where(isAnyOf(engine, 'i.state', p.states)),
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
