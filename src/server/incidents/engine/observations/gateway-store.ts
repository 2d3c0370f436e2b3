// SQL of the devices that gateways cannot manage, for the engine of incidents.
import { sql } from 'kysely'
import { wholeQuery } from '../../../db/queries/query.ts'
import { isConnected } from '../../../nodes/presence-sql.ts'

/** Lists items that were refused, have changed, are enrolled elsewhere, or were never reached, with the presence of their gateway. */
export const listTroubledItems = wholeQuery((db, p: { org: number }) =>
  db
    .selectFrom('gateway_devices as i')
    .innerJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'i.org').onRef('e.id', '=', 'i.gateway_id'))
    .leftJoin('nodes as d', 'd.id', 'e.node_id')
    .select(['i.id', 'i.gateway_id', 'i.state', 'i.since', isConnected.as('connected')])
    .select(sql<number | null>`coalesce(e.online_since, e.connection_time)`.as('online_since'))
    .where('i.org', '=', p.org)
    .where(sql<boolean>`(i.state in ('REFUSED', 'CHANGED', 'DUPLICATE')
      or (i.state in ('NEW', 'UNREACHABLE') and i.reached_at is null))`)
    .orderBy('i.id'),
)
