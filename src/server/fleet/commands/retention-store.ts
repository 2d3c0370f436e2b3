// SQL that deletes old commands of all organisations.

import { sql } from 'kysely'
import { systemWrite } from '../../db/system.ts'

const isFinal = sql<boolean>`state in ('SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELLED', 'SKIPPED')`

/** Deletes at most `limit` commands, and returns them. */
export const deleteOldCommandRows = systemWrite((db, p: { before: number; limit: number }) =>
  db
    .deleteFrom('operations')
    .where(
      (e) => e.refTuple('org', 'id'),
      'in',
      (e) =>
        e
          .selectFrom('operations as o')
          .select(['o.org', 'o.id'])
          .where(isFinal)
          .where('o.updated_at', '<', p.before)
          .limit(p.limit)
          .$asTuple('org', 'id'),
    )
    .returning('id'),
)
