// Holds the SQL about the messages of all organisations: it counts, gives up and deletes them.

import { sql } from 'kysely'
import { systemQuery, systemWrite } from '../../db/system.ts'

/** A replay begins a new time of waiting. */
export const giveUpBefore = systemWrite((db, p: { before: number; limit: number }) =>
  db
    .updateTable('deliveries')
    .set({ state: 'GIVEN_UP', next_at: null, error: 'waited for 30 days' })
    .where('state', '=', sql.lit('WAITING'))
    .where((e) => e.or([e('replayed_at', 'is', null), e('replayed_at', '<', p.before)]))
    .where('message', 'in', (e) =>
      e
        .selectFrom('messages as m')
        .innerJoin('deliveries as d', 'd.message', 'm.number')
        .select('m.number')
        .where('m.created_at', '<', p.before)
        .where('d.state', '=', sql.lit('WAITING'))
        .where((w) => w.or([w('d.replayed_at', 'is', null), w('d.replayed_at', '<', p.before)]))
        .orderBy('m.created_at')
        .limit(p.limit),
    )
    .returning('message'),
)

/** The foreign key deletes the deliveries too. Messages that were given up stay longer, so that the log can show them. */
export const deleteMessagesBefore = systemWrite((db, p: { before: number; givenUpBefore: number; limit: number }) =>
  db
    .deleteFrom('messages')
    .where('number', 'in', (e) =>
      e
        .selectFrom('messages as m')
        .select('m.number')
        .where('m.created_at', '<', p.before)
        .where((w) =>
          w.not(
            w.exists(
              w
                .selectFrom('deliveries as d')
                .select('d.message')
                .whereRef('d.message', '=', 'm.number')
                .where((d) =>
                  d.or([
                    d('d.state', '=', sql.lit('WAITING')),
                    d.and([
                      d('d.state', '=', sql.lit('GIVEN_UP')),
                      d(d.fn.coalesce('d.replayed_at', 'm.created_at'), '>=', p.givenUpBefore),
                    ]),
                  ]),
                ),
            ),
          ),
        )
        .orderBy('m.created_at')
        .limit(p.limit),
    )
    .returning('number'),
)

export const countWaiting = systemQuery((db, _: object) =>
  db
    .selectFrom('deliveries as d')
    .innerJoin('channels as c', (j) => j.onRef('c.org', '=', 'd.org').onRef('c.id', '=', 'd.channel_id'))
    .select(['c.kind', (e) => e.fn.countAll().as('count')])
    .where('d.state', '=', sql.lit('WAITING'))
    .groupBy('c.kind'),
)
