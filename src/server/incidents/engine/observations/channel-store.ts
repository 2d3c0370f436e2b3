// SQL of the channels that the engine of incidents reads, with the messages that wait for each.

import { type SqlBool, sql } from 'kysely'
import { query } from '../../../db/queries/query.ts'

/** `waiting_since` leaves out messages that are not due yet: most are held on purpose (first minute of an incident, hours of the channel, a silence). */
export const listChannelDeliveries = query((db, p: { org: number; now: number }) =>
  db
    .selectFrom('channels as c')
    .select(['c.id', 'c.enabled', 'c.disabled_reason', 'c.delivered_at', 'c.settings'])
    .select((e) =>
      e
        .selectFrom('deliveries as d')
        .innerJoin('messages as m', 'm.number', 'd.message')
        // A message that was held until now has waited since it became due, not since it was written.
        .select(sql<number>`case when d.attempts = 0 then d.next_at else m.created_at end`.as('since'))
        .whereRef('d.org', '=', 'c.org')
        .whereRef('d.channel_id', '=', 'c.id')
        // The state is a literal, because SQLite uses the partial index only then.
        .where(sql<SqlBool>`d.state = 'WAITING'`)
        .where('d.next_at', '>', 0)
        .where((w) => w.or([w('d.attempts', '>', 0), w('d.next_at', '<=', p.now)]))
        // Only the first one is looked up, because a million can wait.
        .orderBy('d.message')
        .limit(1)
        .as('waiting_since'),
    )
    // The message that is held the longest: until when, and since when.
    .select((e) => {
      const last = e
        .selectFrom('deliveries as d')
        .innerJoin('messages as m', 'm.number', 'd.message')
        .whereRef('d.org', '=', 'c.org')
        .whereRef('d.channel_id', '=', 'c.id')
        .where(sql<SqlBool>`d.state = 'WAITING'`)
        .orderBy('d.next_at', 'desc')
        .orderBy('d.message', 'desc')
        .limit(1)
      return [last.select('d.next_at').as('held_until'), last.select('m.created_at').as('held_since')]
    })
    .where('c.org', '=', p.org),
)
export type ChannelDeliveries = Awaited<ReturnType<typeof listChannelDeliveries>>[number]
