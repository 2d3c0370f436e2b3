// SQL of the devices that gateways cannot manage, and of the sources that they cannot read, for the engine of incidents.
import { sql } from 'kysely'
import { wholeQuery } from '../../../db/queries/query.ts'
import { isConnected } from '../../../nodes/presence-sql.ts'

/** Lists items that were refused, have changed, are enrolled elsewhere, or were never reached, with the presence of their gateway and their source. */
export const listTroubledItems = wholeQuery((db, p: { org: number }) =>
  db
    .selectFrom('gateway_devices as i')
    .innerJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'i.org').onRef('e.id', '=', 'i.gateway_id'))
    .leftJoin('nodes as d', 'd.id', 'e.node_id')
    .leftJoin('sources as s', (j) => j.onRef('s.org', '=', 'i.org').onRef('s.id', '=', 'i.source_id'))
    .select(['i.id', 'i.gateway_id', 'i.state', 'i.since', 's.returned_at', isConnected.as('connected')])
    .select(sql<number>`case when s.state <> 'CONNECTED' then 1 else 0 end`.as('source_away'))
    .select(sql<number | null>`coalesce(e.online_since, e.connection_time)`.as('online_since'))
    .where('i.org', '=', p.org)
    .where(sql<boolean>`(i.state in ('REFUSED', 'CHANGED', 'DUPLICATE')
      or (i.state in ('NEW', 'UNREACHABLE') and i.reached_at is null))`)
    .orderBy('i.id'),
)

/** Lists the sources that are not CONNECTED, since when, and the presence of their gateway. */
export const listAbsentSources = wholeQuery((db, p: { org: number }) =>
  db
    .selectFrom('sources as s')
    .innerJoin('endpoints as e', (j) => j.onRef('e.org', '=', 's.org').onRef('e.id', '=', 's.gateway_id'))
    .leftJoin('nodes as d', 'd.id', 'e.node_id')
    .leftJoin('source_absences as a', (j) =>
      j.onRef('a.org', '=', 's.org').onRef('a.source_id', '=', 's.id').on('a.until', 'is', null),
    )
    .select(['s.id', 's.gateway_id', 's.name', 's.reason', 'a.since', isConnected.as('connected')])
    .select(sql<number | null>`coalesce(e.online_since, e.connection_time)`.as('online_since'))
    .where('s.org', '=', p.org)
    .where('s.state', '<>', 'CONNECTED')
    .orderBy('s.id'),
)
