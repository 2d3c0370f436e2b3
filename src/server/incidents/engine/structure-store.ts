// SQL of the places of an organisation that the engine of incidents reads: its rooms and locations.
import { wholeQuery } from '../../db/queries/query.ts'

export const listRoomPlaces = wholeQuery((db, p: { org: number }) =>
  db.selectFrom('rooms').select(['id', 'name', 'location_id as locationId']).where('org', '=', p.org),
)

export const listLocationPlaces = wholeQuery((db, p: { org: number }) =>
  db.selectFrom('locations').select(['id', 'name', 'region_id as regionId', 'timezone']).where('org', '=', p.org),
)

/** Lists the rooms whose capacity is known. */
export const listCapacities = wholeQuery((db, p: { org: number }) =>
  db.selectFrom('rooms').select(['id', 'capacity']).where('org', '=', p.org).where('capacity', 'is not', null),
)
