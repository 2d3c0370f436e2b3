// Holds the SQL about the incidents that a channel was told about. [contract 10.delivery]

import { sql } from 'kysely'
import { isAnyNumberOf, isAnyOf } from '../../../db/queries/any-of.ts'
import { jsonRows } from '../../../db/queries/json-rows.ts'
import { query, writeTelemetry } from '../../../db/queries/query.ts'

/** The `error` of a delivery that was cancelled because a digest has it. */
export const inDigest = 'in a digest'

/** `digest_at` is the next attempt of a digest that announced the incident and has not been delivered. A message that was given up announced nothing. */
export const listAnnounced = query((db, p: { org: number; channel: number; ids: readonly number[] }, engine) =>
  db
    .selectFrom('announced_incidents as a')
    .leftJoin('deliveries as d', (j) =>
      j.onRef('d.org', '=', 'a.org').onRef('d.channel_id', '=', 'a.channel_id').onRef('d.message', '=', 'a.message'),
    )
    .leftJoin('messages as m', 'm.number', 'd.message')
    .select(['a.incident_id', 'a.message'])
    .select(
      sql<number | null>`case when m.type = 'incident.digest' and d.state = 'WAITING' then d.next_at end`.as(
        'digest_at',
      ),
    )
    .where('a.org', '=', p.org)
    .where('a.channel_id', '=', p.channel)
    .where(isAnyNumberOf(engine, 'a.incident_id', p.ids))
    .where((e) => e.or([e('d.state', 'is', null), e('d.state', '<>', 'GIVEN_UP')])),
)

/** The incidents about which a message was attempted, or whose opening a digest has. */
export const listToldKeys = query((db, p: { org: number; channel: number; orderKeys: readonly string[] }, engine) =>
  db
    .selectFrom('messages as m')
    .innerJoin('deliveries as d', 'd.message', 'm.number')
    .select('m.incident_id')
    .distinct()
    .where('m.org', '=', p.org)
    .where(isAnyOf(engine, 'm.order_key', p.orderKeys))
    .where('d.org', '=', p.org)
    .where('d.channel_id', '=', p.channel)
    .where('d.state', '<>', 'GIVEN_UP')
    .where((e) => e.or([e('d.sequence', 'is not', null), e('d.error', '=', sql.lit(inDigest))])),
)

interface AnnouncedRow {
  readonly incident_id: number
  readonly message: number
  readonly size: number
}

/** Notes that a message has announced incidents, each with its size. */
export const upsertAnnounced = writeTelemetry(
  (db, p: { org: number; channel: number; rows: readonly (readonly [number, number, number])[] }, engine) =>
    db
      .insertInto('announced_incidents')
      .columns(['org', 'channel_id', 'incident_id', 'message', 'size', 'has_grown'])
      .expression((q) =>
        q
          .selectFrom(
            jsonRows<AnnouncedRow>(engine, p.rows, { incident_id: 'integer', message: 'integer', size: 'integer' }).as(
              'a',
            ),
          )
          .select([
            sql<number>`cast(${p.org} as integer)`.as('org'),
            sql<number>`cast(${p.channel} as integer)`.as('channel_id'),
            'a.incident_id',
            'a.message',
            'a.size',
            sql<number>`0`.as('has_grown'),
          ])
          .where(sql<boolean>`true`),
      )
      .onConflict((c) =>
        c.columns(['org', 'channel_id', 'incident_id']).doUpdateSet((e) => ({
          message: e.ref('excluded.message'),
          size: e.ref('excluded.size'),
          has_grown: 0,
        })),
      ),
)
