// Holds the SQL of idempotency keys.
import { query, queryOne, write, writeTelemetry } from '../../db/queries/query.ts'
import { systemQueryExists, systemWrite } from '../../db/system.ts'

/** `entry` is the audit entry of the request, and `answer` is sealed. */
export interface KeyValues {
  readonly org: number
  readonly id: Buffer
  readonly request: Buffer
  readonly number: number
  readonly total_bytes: number
  readonly entry: number
  readonly answer: Buffer | null
  readonly etag: string | null
  readonly pending_until: number | null
  readonly created_at: number
}

export const findIdempotencyKey = queryOne((db, p: { org: number; id: Buffer; since: number }) =>
  db
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where('created_at', '>', p.since),
)

/** The oldest and the newest key. Both are found by the index, however many there are. */
export const listEnds = query((db, p: { org: number }) => {
  const end = (order: 'asc' | 'desc') =>
    db.selectFrom(
      db
        .selectFrom('idempotency_keys')
        .select(['number', 'total_bytes', 'created_at'])
        .where('org', '=', p.org)
        .orderBy('number', order)
        .limit(1)
        .as(order),
    )
  return end('asc').selectAll().unionAll(end('desc').selectAll())
})

/** A key that was used more than 24 hours ago can be used again before it is deleted. */
export const putIdempotencyKey = write((db, p: KeyValues) =>
  db
    .insertInto('idempotency_keys')
    .values({
      org: p.org,
      id: p.id,
      request: p.request,
      number: p.number,
      total_bytes: p.total_bytes,
      entry: p.entry,
      answer: p.answer,
      etag: p.etag,
      pending_until: p.pending_until,
      created_at: p.created_at,
    })
    .onConflict((conflict) =>
      conflict.columns(['org', 'id']).doUpdateSet((e) => ({
        request: e.ref('excluded.request'),
        number: e.ref('excluded.number'),
        total_bytes: e.ref('excluded.total_bytes'),
        entry: e.ref('excluded.entry'),
        answer: e.ref('excluded.answer'),
        etag: e.ref('excluded.etag'),
        pending_until: e.ref('excluded.pending_until'),
        created_at: e.ref('excluded.created_at'),
      })),
    ),
)

/** For an answer that is known only after the commit; null if there was an error instead. */
export const updateAnswer = writeTelemetry(
  (db, p: { org: number; id: Buffer; answer: Buffer | null; etag: string | null }) =>
    db
      .updateTable('idempotency_keys')
      .set({ answer: p.answer, etag: p.etag, pending_until: null })
      .where('org', '=', p.org)
      .where('id', '=', p.id),
)

export const hasOldKey = systemQueryExists((db, p: { until: number }) =>
  db.selectFrom('idempotency_keys').select('org').where('created_at', '<=', p.until).limit(1),
)

/** Deletes at most `limit` keys, in all organisations. */
export const deleteOldKeys = systemWrite((db, p: { until: number; limit: number }) =>
  db.deleteFrom('idempotency_keys').where(
    (e) => e.refTuple('org', 'id'),
    'in',
    (e) =>
      e
        .selectFrom('idempotency_keys')
        .select(['org', 'id'])
        .where('created_at', '<=', p.until)
        .limit(p.limit)
        .$asTuple('org', 'id'),
  ),
)
