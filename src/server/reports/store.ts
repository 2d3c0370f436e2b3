// SQL of reports: the organisation and the rooms that the caller sees.
import { queryOne, visibleQuery } from '../db/queries/query.ts'
import { bySite } from '../db/queries/site-filter.ts'

/** The organisation, and from when on its rollups of rooms are stored. */
export const findReportOrg = queryOne((db, p: { org: number }) =>
  db
    .selectFrom('orgs as o')
    .leftJoin('sample_progress as p', 'p.org', 'o.key')
    .select([
      'o.timezone',
      'o.working_hours',
      'o.air_limits',
      'o.availability_target',
      'o.ignore_under_minutes',
      'o.past_known_from',
      'p.quarters_from',
      'p.room_days_from',
    ])
    .where('o.key', '=', p.org),
)

type RoomPage = { org: number; region: number; location: number; after: number; limit: number }

/** Rooms with their places, in pages in the order of their ids. */
export const listReportRooms = bySite((byRegion, byLocation) =>
  visibleQuery('region', 'l.region_id', (db, p: RoomPage) =>
    db
      .selectFrom('rooms as r')
      .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
      .leftJoin('regions as g', (j) => j.onRef('g.org', '=', 'l.org').onRef('g.id', '=', 'l.region_id'))
      .select(['r.id', 'r.name', 'r.capacity', 'r.tags', 'r.fields', 'r.location_id', 'l.name as location_name'])
      .select(['l.timezone', 'l.region_id', 'g.name as region_name'])
      .where('r.org', '=', p.org)
      .where('r.id', '>', p.after)
      .$if(byRegion, (q) => q.where('l.region_id', '=', p.region))
      .$if(byLocation, (q) => q.where('r.location_id', '=', p.location))
      .orderBy('r.id')
      .limit(p.limit),
  ),
)

/** Rooms that were deleted after a time in milliseconds, with the places that they had then. */
export const listReportDeletedRooms = bySite((byRegion, byLocation) =>
  visibleQuery('region', 'd.region_id', (db, p: RoomPage & { since: number }) =>
    db
      .selectFrom('deleted_rooms as d')
      .select(['d.id', 'd.name', 'd.capacity', 'd.tags', 'd.fields', 'd.location_id', 'd.location_name'])
      .select(['d.timezone', 'd.region_id', 'd.region_name', 'd.deleted_at'])
      .where('d.org', '=', p.org)
      .where('d.id', '>', p.after)
      .where('d.deleted_at', '>', p.since)
      .$if(byRegion, (q) => q.where('d.region_id', '=', p.region))
      .$if(byLocation, (q) => q.where('d.location_id', '=', p.location))
      .orderBy('d.id')
      .limit(p.limit),
  ),
)
