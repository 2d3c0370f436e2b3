// The condition that limits a query to the regions that its caller sees. [contract 11.access]

import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { EngineName } from '../engine.ts'
import { isAnyNumberOf } from './any-of.ts'

/** The tables whose rows are in a place, or show places. `query()` does not know them: see `visibleQuery()`. */
export type PlacedTable =
  | 'regions'
  | 'locations'
  | 'rooms'
  | 'room_notes'
  | 'users'
  | 'user_regions'
  | 'endpoints'
  | 'endpoint_rooms'
  | 'endpoint_configs'
  | 'config_versions'
  | 'operations'
  | 'bug_reports'
  | 'bug_report_items'
  | 'samples'
  | 'samples_latest'
  | 'sample_quarters'
  | 'sample_hours'
  | 'sample_days'

/** The thing that a row shows. An endpoint is named by its id, or by its number in the tables of samples. */
export type VisibleSubject = 'region' | 'location' | 'room' | 'endpoint' | 'endpointNumber' | 'user'

interface VisibleValues {
  readonly org: number
  readonly visibleRegions: readonly number[]
}

/** For the column with the id of a subject: true if its region is visible. */
export function isVisible(
  engine: EngineName,
  subject: VisibleSubject,
  column: string,
  { org, visibleRegions }: VisibleValues,
): RawBuilder<SqlBool> {
  if (subject === 'region') return isAnyNumberOf(engine, column, visibleRegions)
  const id = sql.ref(column)
  const inRegions = isAnyNumberOf(engine, 'vl.region_id', visibleRegions)
  const rooms = sql`rooms vr join locations vl on vl.org = vr.org and vl.id = vr.location_id`
  const endpoints = sql`endpoints ve join rooms vr on vr.org = ve.org and vr.id = ve.room_id
    join locations vl on vl.org = vr.org and vl.id = vr.location_id`
  switch (subject) {
    case 'location':
      return sql`${id} in (select vl.id from locations vl where vl.org = ${org} and ${inRegions})`
    case 'room':
      return sql`${id} in (select vr.id from ${rooms} where vr.org = ${org} and ${inRegions})`
    case 'endpoint':
      return sql`${id} in (select ve.id from ${endpoints} where ve.org = ${org} and ${inRegions})`
    case 'endpointNumber':
      return sql`${id} in (select ve.number from ${endpoints} where ve.org = ${org} and ${inRegions})`
    case 'user':
      return sql`${id} in (select vu.user_id from user_regions vu
        where vu.org = ${org} and ${isAnyNumberOf(engine, 'vu.region_id', visibleRegions)})`
  }
}
