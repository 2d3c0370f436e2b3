// Holds the SQL of refused sign-ins that are in the audit log. [contract 11.local]

import { queryOne, writeExists } from '../../db/queries/query.ts'
import { systemWrite } from '../../db/system.ts'

export const findRefusal = queryOne((db, p: { org: number; identity: string }) =>
  db.selectFrom('sign_in_refusals').select('refused_at').where('org', '=', p.org).where('identity', '=', p.identity),
)

/** Returns false if another caller wrote a refusal of this identity since `before`. */
export const writeRefusal = writeExists((db, p: { org: number; identity: string; at: number; before: number }) =>
  db
    .insertInto('sign_in_refusals')
    .values({ org: p.org, identity: p.identity, refused_at: p.at })
    .onConflict((c) =>
      c
        .columns(['org', 'identity'])
        .doUpdateSet({ refused_at: p.at })
        .where('sign_in_refusals.refused_at', '<=', p.before),
    )
    .returning('identity'),
)

export const deleteOldRefusals = systemWrite((db, p: { before: number }) =>
  db.deleteFrom('sign_in_refusals').where('refused_at', '<=', p.before),
)
