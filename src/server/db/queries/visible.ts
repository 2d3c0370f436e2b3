// The condition that limits a query to the regions that its caller sees. [contract 11.access]

import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { EngineName } from '../engine.ts'
import { isAnyNumberOf } from './any-of.ts'

/** The tables whose rows are in a place, or show places. `query()` does not know them: see `visibleQuery()`. */
const placedTables = [
  'regions',
  'locations',
  'rooms',
  'room_notes',
  'users',
  'user_regions',
  'endpoints',
  'endpoint_rooms',
  'endpoint_configs',
  'config_versions',
  'operations',
  'bug_reports',
  'bug_report_items',
  'samples',
  'samples_latest',
  'sample_quarters',
  'sample_hours',
  'sample_days',
] as const
export type PlacedTable = (typeof placedTables)[number]

/** Returns a table with places that a statement reads. */
export const placedTableIn = (statement: string): string | undefined =>
  [...statement.matchAll(/\b(?:from|join)\s+"?(\w+)/g)].map((m) => m[1] ?? '').find((name) => placedNames.has(name))

const placedNames: ReadonlySet<string> = new Set(placedTables)

/** The thing that a row shows. An endpoint is named by its id, or by its number in the tables of samples. */
export type VisibleSubject = 'region' | 'location' | 'room' | 'endpoint' | 'endpointNumber' | 'bugReport' | 'user'

/** A column with its table: `r.id`. A bare name would be taken for a column of the tables inside the condition. */
export type QualifiedColumn = `${string}.${string}`

interface VisibleValues {
  readonly org: number
  readonly visibleRegions: readonly number[]
}

/**
 * For the column with the id of a subject: true if its region is visible. The conditions look at the row's own place by its key,
 * so that a read of one row does not collect everything that is visible.
 */
export function isVisible(
  engine: EngineName,
  subject: VisibleSubject,
  column: QualifiedColumn,
  { org, visibleRegions }: VisibleValues,
): RawBuilder<SqlBool> {
  if (subject === 'region') return isAnyNumberOf(engine, column, visibleRegions)
  const id = sql.ref(column)
  const inRegions = isAnyNumberOf(engine, 'vl.region_id', visibleRegions)
  const roomPlace = sql`rooms vr join locations vl on vl.org = vr.org and vl.id = vr.location_id`
  const endpointPlace = sql`endpoints ve join rooms vr on vr.org = ve.org and vr.id = ve.room_id
    join locations vl on vl.org = vr.org and vl.id = vr.location_id`
  switch (subject) {
    case 'location':
      return sql`exists (select 1 from locations vl where vl.org = ${org} and vl.id = ${id} and ${inRegions})`
    case 'room':
      return sql`exists (select 1 from ${roomPlace} where vr.org = ${org} and vr.id = ${id} and ${inRegions})`
    case 'endpoint':
      return sql`exists (select 1 from ${endpointPlace} where ve.org = ${org} and ve.id = ${id} and ${inRegions})`
    case 'endpointNumber':
      return sql`exists (select 1 from ${endpointPlace} where ve.org = ${org} and ve.number = ${id} and ${inRegions})`
    case 'bugReport':
      // A report is visible if one of its endpoints is.
      return sql`exists (select 1 from bug_report_items vi
        join endpoints ve on ve.org = vi.org and ve.id = vi.endpoint_id
        join rooms vr on vr.org = ve.org and vr.id = ve.room_id
        join locations vl on vl.org = vr.org and vl.id = vr.location_id
        where vi.org = ${org} and vi.report_id = ${id} and ${inRegions})`
    case 'user':
      // Owners, and users with all regions, overlap every region, but not with a caller who sees none. Lists are passed as JSON text.
      return sql`exists (select 1 from users vu where vu.org = ${org} and vu.id = ${id}
        and cast(${visibleRegions} as text) <> '[]'
        and (vu.role = 'owner' or vu.all_regions = 1 or exists (select 1 from user_regions vg
          where vg.org = vu.org and vg.user_id = vu.id and ${isAnyNumberOf(engine, 'vg.region_id', visibleRegions)})))`
  }
}
