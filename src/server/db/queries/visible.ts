// The condition that limits a query to the regions that its caller sees. [contract 11.access]

import { type CompiledQuery, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { EngineName } from '../engine.ts'
import { isAnyNumberOf } from './any-of.ts'
import { partsOf } from './query-parts.ts'

/** The tables whose rows belong to regions, or show regions. `query()` does not know them: see `visibleQuery()`. */
const regionScopedTables = [
  'regions',
  'locations',
  'rooms',
  'room_notes',
  'users',
  'user_regions',
  'endpoints',
  'endpoint_rooms',
  'deleted_rooms',
  'former_change_windows',
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
  'room_days',
  'connection_spans',
  'findings',
  'known_peripherals',
  'gateways',
  'gateway_devices',
  'gateway_tests',
  'incidents',
  'incident_subjects',
  'incident_timeline',
  'silences',
  'jobs',
  'job_units',
  'job_unit_rooms',
  'job_endpoints',
  'job_moves',
  'recurring_jobs',
  'recurring_job_locations',
  'recurring_job_runs',
] as const
export type RegionScopedTable = (typeof regionScopedTables)[number]

/**
 * Returns a table whose rows belong to regions, if a query names one. In SQL text that was written by hand, each word that is the name of
 * such a table counts, unless it is a column after a dot or stands in a string: text cannot be searched for its tables reliably.
 */
export function regionScopedTableIn(query: CompiledQuery): string | undefined {
  const { tables, rawTexts } = partsOf(query)
  const words = rawTexts.flatMap((text) => text.replaceAll(/'[^']*'/g, '').match(/(?<![\w.]|\."?)\w+/g) ?? [])
  return [...tables, ...words].find((name) => regionScopedNames.has(name))
}

const regionScopedNames: ReadonlySet<string> = new Set(regionScopedTables)

/** The thing that a row shows. An endpoint is named by its id, or by its number in the tables of samples. */
export type VisibleSubject =
  | 'region'
  | 'location'
  | 'room'
  | 'endpoint'
  | 'endpointNumber'
  | 'bugReport'
  | 'user'
  | 'incident'
  | 'job'
  | 'jobUnit'
  | 'steerableUnit'
  | 'recurringJob'
  | 'gatewayDevice'

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
    case 'incident':
      // An incident is visible if one of its subjects was in a visible region when it joined.
      return sql`exists (select 1 from incident_subjects vs where vs.org = ${org} and vs.incident_id = ${id}
        and ${isAnyNumberOf(engine, 'vs.region_id', visibleRegions)})`
    case 'gatewayDevice':
      // Both its room and its gateway must be visible.
      return sql`exists (select 1 from gateway_devices vd
        join rooms vr on vr.org = vd.org and vr.id = vd.room_id
        join locations vl on vl.org = vr.org and vl.id = vr.location_id
        join endpoints vg on vg.org = vd.org and vg.id = vd.gateway_id
        join rooms vh on vh.org = vg.org and vh.id = vg.room_id
        join locations vk on vk.org = vh.org and vk.id = vh.location_id
        where vd.org = ${org} and vd.id = ${id} and ${inRegions}
        and ${isAnyNumberOf(engine, 'vk.region_id', visibleRegions)})`
    case 'job':
      return isJobVisible(org, id, inRegions)
    case 'jobUnit':
      // The column has the number of the unit; the column `job_id` is beside it.
      return isUnitVisible(org, jobOf(column), id, inRegions)
    case 'steerableUnit':
      return isUnitSteerable(org, jobOf(column), id, inRegions)
    case 'recurringJob':
      // A recurring job is visible if one of its locations is.
      return sql`exists (select 1 from recurring_job_locations vo
        join locations vl on vl.org = vo.org and vl.id = vo.location_id
        where vo.org = ${org} and vo.recurring_job = ${id} and ${inRegions})`
    case 'user':
      // Owners, and users with all regions, overlap every region, but not with a caller who sees none. Lists are passed as JSON text.
      return sql`exists (select 1 from users vu where vu.org = ${org} and vu.id = ${id}
        and cast(${visibleRegions} as text) <> '[]'
        and (vu.role = 'owner' or vu.all_regions = 1 or exists (select 1 from user_regions vg
          where vg.org = vu.org and vg.user_id = vu.id and ${isAnyNumberOf(engine, 'vg.region_id', visibleRegions)})))`
  }
}

const jobOf = (unitColumn: QualifiedColumn) => sql.ref(unitColumn.replace(/\.\w+$/, '.job_id'))

/**
 * A job is visible if one of its units is. The condition begins with the rooms that the caller sees, because a job that concerns none of
 * them may have a hundred thousand units. Units whose rooms were all deleted are found by their location.
 */
const isJobVisible = (
  org: number,
  job: RawBuilder<unknown>,
  inRegions: RawBuilder<SqlBool>,
  // SQLite joins the tables of a cross join in the order in which they are written.
): RawBuilder<SqlBool> => sql`(exists (select 1 from locations vl cross join rooms vr cross join job_unit_rooms vm
    where vl.org = ${org} and ${inRegions} and vr.org = vl.org and vr.location_id = vl.id
      and vm.org = vr.org and vm.room_id = vr.id and vm.job_id = ${job}
      and ${isUnitVisible(org, sql`vm.job_id`, sql`vm.unit`, inRegions)})
  or exists (select 1 from locations vl cross join job_units vu
    where vl.org = ${org} and ${inRegions} and vu.org = vl.org and vu.job_id = ${job} and vu.location_id = vl.id
      and not exists (select 1 from job_unit_rooms vm join rooms vr on vr.org = vm.org and vr.id = vm.room_id
        where vm.org = vu.org and vm.job_id = vu.job_id and vm.unit = vu.number)))`

/**
 * A unit is visible if all of its rooms are, because its name contains theirs. A room that was deleted counts by the location that its unit
 * had when it was made. A unit without a room is visible only to callers who see everything.
 */
const isUnitVisible = (
  org: number,
  job: RawBuilder<unknown>,
  unit: RawBuilder<unknown>,
  inRegions: RawBuilder<SqlBool>,
): RawBuilder<SqlBool> => sql`coalesce((select min(case when ${inRegions} then 1 else 0 end) from job_unit_rooms vj
  left join rooms vr on vr.org = vj.org and vr.id = vj.room_id
  left join locations vl on vl.org = vj.org and vl.id = case when vr.id is null
    then (select vd.location_id from job_units vd where vd.org = vj.org and vd.job_id = vj.job_id and vd.number = vj.unit)
    else vr.location_id end
  where vj.org = ${org} and vj.job_id = ${job} and vj.unit = ${unit}), 0) = 1`

/** A room that was deleted cannot be changed any more, so that it keeps no caller from steering the job. */
const isUnitSteerable = (
  org: number,
  job: RawBuilder<unknown>,
  unit: RawBuilder<unknown>,
  inRegions: RawBuilder<SqlBool>,
): RawBuilder<SqlBool> => sql`coalesce((select min(case when vr.id is null or ${inRegions} then 1 else 0 end) from job_unit_rooms vj
  left join rooms vr on vr.org = vj.org and vr.id = vj.room_id
  left join locations vl on vl.org = vr.org and vl.id = vr.location_id
  where vj.org = ${org} and vj.job_id = ${job} and vj.unit = ${unit}), 0) = 1`
