// SQL of what a plan shows of the endpoints of a target. [contract 12.plan]

import { isAnyOf } from '../../db/queries/any-of.ts'
import { wholeQuery } from '../../db/queries/query.ts'
import { reportedList } from '../../db/queries/reported-list.ts'
import { endpointState, type PresenceTimes } from '../../nodes/presence-sql.ts'

/** The layers of the configs of endpoints, without the values of passwords that are sealed, what their devices support, and their states. */
export const listPlannedEndpoints = wholeQuery(
  (db, p: PresenceTimes & { org: number; ids: readonly string[] }, engine) =>
    db
      .selectFrom('endpoints as e')
      .leftJoin('nodes as d', 'd.id', 'e.node_id')
      .leftJoin('endpoint_configs as c', (j) => j.onRef('c.org', '=', 'e.org').onRef('c.endpoint_id', '=', 'e.id'))
      .leftJoin('profiles as p', (j) => j.onRef('p.org', '=', 'e.org').onRef('p.id', '=', 'e.profile_id'))
      .select(['e.id', 'c.explicit', 'c.secrets', 'c.reported', 'p.config as profile', 'p.secrets as profile_secrets'])
      .select(endpointState(p).as('presence'))
      .select([reportedList(engine, 'supports').as('supports'), reportedList(engine, 'configKeys').as('config_keys')])
      .where('e.org', '=', p.org)
      .where(isAnyOf(engine, 'e.id', p.ids)),
)
