// Holds the SQL of the sessions of people. [contract 11.local]

import type { Role } from '../../../contract/permissions.ts'
import { personOf, type TokenHolder } from '../../auth/token-holder.ts'
import { type SystemReader, systemQueryOne } from '../../db/system.ts'
import { regionList } from '../keys/holder-columns.ts'

const selectUserSessionHolder = systemQueryOne((db, p: { hash: Buffer }, engine) =>
  db
    .selectFrom('user_sessions as s')
    .innerJoin('users as u', (j) => j.onRef('u.org', '=', 's.org').onRef('u.id', '=', 's.user_id'))
    .innerJoin('orgs as o', 'o.key', 's.org')
    .select(['o.key as org', 'o.id as org_id', 'u.id', 'u.email', 'u.role', 'u.all_regions'])
    .select(['s.used_at', 's.expires_at', regionList(engine, 'user_regions', 'user_id', 'u').as('regions')])
    .where('s.hash', '=', p.hash)
    .where('u.state', '=', 'ACTIVE'),
)
/** Finds the person that a session acts for, unless the person is disabled. */
export async function findUserSessionHolder(on: SystemReader, hash: Buffer): Promise<TokenHolder | undefined> {
  const row = await selectUserSessionHolder(on, { hash })
  if (!row) return undefined
  return {
    org: { key: row.org, id: row.org_id },
    ...personOf({ ...row, role: row.role as Role }),
    expiresAt: row.expires_at,
    rateLimit: null,
    key: undefined,
    session: { hash, usedAt: row.used_at },
  }
}
