// SQL of the configs that the engine of incidents reads: those that devices rejected or have not confirmed.

import { type SqlBool, sql } from 'kysely'
import { isAnyOf } from '../../../db/queries/any-of.ts'
import { wholeQuery } from '../../../db/queries/query.ts'
import { connectionTime, isConnected } from '../../../nodes/presence-sql.ts'

/** Lists the endpoints that rejected a config within a window of time, which is not always their present one. */
export const listRejectedWithin = wholeQuery((db, p: { org: number; from: number; to: number }) =>
  db
    .selectFrom('config_versions')
    .select('endpoint_id as id')
    .where('org', '=', p.org)
    // The state is a literal, because SQLite uses the partial index only then.
    .where(sql<SqlBool>`state = 'FAILED'`)
    .where('updated_at', '>=', p.from)
    .where('updated_at', '<=', p.to),
)

/** Lists the endpoints that rejected their present config. */
export const listRejectedConfigs = wholeQuery((db, p: { org: number }) =>
  db
    .selectFrom('endpoint_configs')
    .select('endpoint_id as id')
    .where('org', '=', p.org)
    // The state is a literal, because SQLite uses the partial index only then.
    .where(sql<SqlBool>`state = 'FAILED'`),
)

/** Lists the endpoints that have not confirmed their config. */
export const listUnconfirmedConfigs = wholeQuery((db, p: { org: number }) =>
  db
    .selectFrom('endpoint_configs')
    .select('endpoint_id as id')
    .where('org', '=', p.org)
    // The condition must be written as in the partial index, or the index is not used.
    .where(sql<SqlBool>`(state = 'PENDING' or reported_version <> version)`)
    .where('state', '=', 'PENDING'),
)

export const listConfigsById = wholeQuery((db, p: { org: number; ids: readonly string[] }, engine) =>
  db
    .selectFrom('endpoints as e')
    .innerJoin('endpoint_configs as c', (j) => j.onRef('c.org', '=', 'e.org').onRef('c.endpoint_id', '=', 'e.id'))
    .innerJoin('config_versions as v', (j) =>
      j.onRef('v.org', '=', 'e.org').onRef('v.endpoint_id', '=', 'e.id').onRef('v.version', '=', 'c.version'),
    )
    .leftJoin('jobs as j', (join) => join.onRef('j.org', '=', 'v.org').onRef('j.id', '=', 'v.job_id'))
    .leftJoin('profiles as p', (j) => j.onRef('p.org', '=', 'e.org').onRef('p.id', '=', 'e.profile_id'))
    .leftJoin('nodes as d', 'd.id', 'e.node_id')
    .select(['e.id', 'c.state', 'c.rejected', 'v.created_at', 'v.updated_at'])
    .select(['j.id as job_id', 'j.action as job_action'])
    .select(['p.id as profile_id', 'p.config as profile', 'p.secrets as profile_secrets'])
    .select(isConnected.as('connected'))
    .select(connectionTime.as('connection_time'))
    .where('e.org', '=', p.org)
    .where(isAnyOf(engine, 'e.id', p.ids)),
)
export type ObservedConfig = Awaited<ReturnType<typeof listConfigsById>>[number]
