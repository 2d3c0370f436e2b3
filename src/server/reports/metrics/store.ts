// SQL of metrics: the endpoints that a caller sees, in pages.
import { visibleQuery } from '../../db/queries/query.ts'
import { bySite } from '../../db/queries/site-filter.ts'
import { endpointState, type PresenceTimes } from '../../nodes/presence-sql.ts'

type Page = PresenceTimes & { org: number; region: number; location: number; after: string; limit: number }

/** Endpoints after an id, in the order of their ids. */
export const listMeasuredEndpoints = bySite((byRegion, byLocation) =>
  visibleQuery('location', 'r.location_id', (db, p: Page) =>
    db
      .selectFrom('endpoints as e')
      .leftJoin('nodes as d', 'd.id', 'e.node_id')
      .leftJoin('rooms as r', (j) => j.onRef('r.org', '=', 'e.org').onRef('r.id', '=', 'e.room_id'))
      .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
      .select(['e.id', 'e.number', 'e.room_id', 'e.serial', 'e.model', 'e.name', 'e.presence_only'])
      .select(['e.status', 'e.readings', endpointState(p).as('state')])
      .where('e.org', '=', p.org)
      .$if(byRegion, (q) => q.where('l.region_id', '=', p.region))
      .$if(byLocation, (q) => q.where('r.location_id', '=', p.location))
      .where('e.id', '>', p.after)
      .orderBy('e.id')
      .limit(p.limit),
  ),
)
export type MeasuredEndpoint = Awaited<ReturnType<typeof listMeasuredEndpoints>>[number]
