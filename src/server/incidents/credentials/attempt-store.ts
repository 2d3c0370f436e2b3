// SQL of the counts of wrong credentials and of connections that were replaced.

import { isAnyOf } from '../../db/queries/any-of.ts'
import { wholeQuery, writeTelemetry } from '../../db/queries/query.ts'
import { systemQuery, systemQueryExists, systemWrite } from '../../db/system.ts'

/** Finds the organisations of endpoints. Ids of no endpoint are left out. */
export const listOrgsOfEndpoints = systemQuery((db, p: { ids: readonly string[] }, engine) =>
  db
    .selectFrom('endpoints')
    .select(['org', 'id'])
    .where(isAnyOf(engine, 'id', p.ids)),
)

/** The table keeps the old word for a connection that was replaced: its CHECK is in a released migration, and nodes of earlier versions read and write it. */
export const storedKinds = { refused: 'refused', replaced: 'taken over' } as const
type StoredKind = (typeof storedKinds)[keyof typeof storedKinds]

interface NewAttempts {
  org: number
  endpoint: string
  kind: StoredKind
  minute: number
  address: string
  count: number
  lastAt: number
}
export const addAttempts = writeTelemetry((db, p: NewAttempts) =>
  db
    .insertInto('credential_attempts')
    .values({
      org: p.org,
      endpoint_id: p.endpoint,
      kind: p.kind,
      minute: p.minute,
      address: p.address,
      count: p.count,
      last_at: p.lastAt,
    })
    .onConflict((c) =>
      c.columns(['org', 'endpoint_id', 'kind', 'minute', 'address']).doUpdateSet((e) => ({
        count: e('credential_attempts.count', '+', e.ref('excluded.count')),
        last_at: e.ref('excluded.last_at'),
      })),
    ),
)

export const listAttempts = wholeQuery((db, p: { org: number; from: number }) =>
  db
    .selectFrom('credential_attempts')
    .select(['endpoint_id', 'kind', 'minute', 'address', 'count', 'last_at'])
    .where('org', '=', p.org)
    .where('minute', '>=', p.from),
)
export type AttemptRow = Awaited<ReturnType<typeof listAttempts>>[number]

export const hasAttemptBefore = systemQueryExists((db, p: { before: number }) =>
  db.selectFrom('credential_attempts').select('org').where('minute', '<', p.before).limit(1),
)
export const deleteAttemptsBefore = systemWrite((db, p: { before: number }) =>
  db.deleteFrom('credential_attempts').where('minute', '<', p.before),
)
