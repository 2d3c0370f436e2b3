// SQL that deletes old commands of all organisations.

import { type SqlBool, sql } from 'kysely'
import { endsOnPurpose, switchesOff } from '../../db/queries/on-purpose.ts'
import { systemWrite } from '../../db/system.ts'

const isFinal = sql<boolean>`state in ('SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELLED', 'SKIPPED')`

/** While a device that was switched off stays away, its command says that it is away on purpose. */
const explainsAbsence = sql<SqlBool>`(${switchesOff} and exists (select 1 from endpoints as e
  where e.org = o.org and e.id = o.endpoint_id and ${endsOnPurpose(sql`e.connection_time`)}))`

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
          .where(({ not }) => not(explainsAbsence))
          .limit(p.limit)
          .$asTuple('org', 'id'),
    )
    .returning('id'),
)
