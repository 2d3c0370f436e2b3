// SQL of sensor history: stays of endpoints in rooms, due quarters, samples and rollups.

import { sql } from 'kysely'
import type { EngineName } from '../../db/engine.ts'
import type { OrgReader } from '../../db/handles.ts'
import { isAnyNumberOf } from '../../db/queries/any-of.ts'
import { byUuid } from '../../db/queries/by-uuid.ts'
import { query, queryOne, visibleQueryOne, wholeQuery, wholeQueryOne } from '../../db/queries/query.ts'
import { queryNumbers } from '../../db/queries/query-numbers.ts'
import { queryVariants } from '../../db/queries/variants.ts'
import { type SensorColumn, sensorColumns } from '../../db/schema/schema.ts'
import { roomAtTheTime } from '../ingest/room-at-sql.ts'
import type { RollupTable } from '../rollups/store.ts'

/**
 * The time zone of the organisation, the time zone of its days (empty or null while there are none), and the time since which no
 * quarters were deleted.
 */
export const findZones = queryOne((db, p: { org: number }) =>
  db
    .selectFrom('orgs as o')
    .leftJoin('sample_progress as p', 'p.org', 'o.key')
    .select(['o.timezone as own', 'p.timezone as days', 'p.quarters_from'])
    .where('o.key', '=', p.org),
)

export const findNumber = byUuid(
  visibleQueryOne('endpoint', 'endpoints.id', (db, p: { org: number; id: string }) =>
    db.selectFrom('endpoints').select('number').where('org', '=', p.org).where('id', '=', p.id),
  ),
)

export interface RoomStay {
  readonly endpoint: number
  readonly since: number
  /** Null while the endpoint is in the room. */
  readonly until: number | null
  readonly endpoint_id: string
}
type StaysQuery = { org: number; room: number; from: number; to: number }
/** The stays in a room that overlap the window, in Unix seconds. */
export const listStays = wholeQuery((db, p: StaysQuery) =>
  db
    .selectFrom('endpoint_rooms')
    .select(['endpoint', 'since', 'until', 'endpoint_id'])
    .where('org', '=', p.org)
    .where('room_id', '=', p.room)
    .where('since', '<', p.to)
    .where((e) => e.or([e('until', 'is', null), e('until', '>', p.from)])),
)

/** Also reads the region in which each endpoint is now; null if that is none, or the endpoint was unenrolled. */
export const listStaysWithRegions = wholeQuery((db, p: StaysQuery) =>
  db
    .selectFrom('endpoint_rooms as s')
    .leftJoin('endpoints as e', (j) => j.onRef('e.org', '=', 's.org').onRef('e.id', '=', 's.endpoint_id'))
    .leftJoin('rooms as r', (j) => j.onRef('r.org', '=', 'e.org').onRef('r.id', '=', 'e.room_id'))
    .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
    .select(['s.endpoint', 's.since', 's.until', 's.endpoint_id', 'l.region_id'])
    .where('s.org', '=', p.org)
    .where('s.room_id', '=', p.room)
    .where('s.since', '<', p.to)
    .where((e) => e.or([e('s.until', 'is', null), e('s.until', '>', p.from)])),
)

/** The endpoints to read, and the room that their rows must belong to unless it is 0. */
export interface EndpointSelection {
  readonly endpoints: readonly number[]
  readonly room: number
}
interface Range {
  readonly from: number
  readonly to: number
}

export const listDueIn = query((db, p: { org: number; endpoints: readonly number[]; limit: number } & Range, engine) =>
  db
    .selectFrom('sample_due')
    .select(['endpoint', 'slot'])
    .where('org', '=', p.org)
    .where(isAnyNumberOf(engine, 'endpoint', p.endpoints))
    .where('slot', '>=', p.from)
    .where('slot', '<', p.to)
    .limit(p.limit),
)

/** The sensors to read, and whether the rows must belong to a room: fewer sensors read fewer columns. */
const historyParts = [...sensorColumns, 'room'] as const
const columnsIn = (given: ReadonlySet<string>) => sensorColumns.filter((column) => given.has(column))
const partsOf = (columns: readonly SensorColumn[], { room }: EndpointSelection) =>
  room === 0 ? columns : [...columns, 'room' as const]

/** The statistics of a bucket, in the units of samples. Only the requested sensors are present. */
export type StatisticsRow = { slot: number } & { [S in SensorColumn as `${S}_count`]: number } & {
  [S in SensorColumn as `${S}_${'min' | 'max' | 'sum'}`]: number | null
}
export interface RollupRow extends StatisticsRow {
  endpoint: number
}
const statistics = (columns: readonly SensorColumn[]) =>
  columns.flatMap((c) => [`${c}_count`, `${c}_min`, `${c}_max`, `${c}_sum`] as const)

interface RollupsOf extends EndpointSelection {
  readonly org: number
}
const rollupColumns = (columns: readonly SensorColumn[]) => ['endpoint', 'slot', ...statistics(columns)] as const

const inRange = (table: RollupTable) =>
  queryVariants(historyParts, (given) =>
    queryNumbers(rollupColumns(columnsIn(given)), (db, p: RollupsOf & Range, engine) =>
      db
        .selectFrom(table)
        .select(rollupColumns(columnsIn(given)))
        .where('org', '=', p.org)
        .where(isAnyNumberOf(engine, 'endpoint', p.endpoints))
        .where('slot', '>=', p.from)
        .where('slot', '<', p.to)
        .$if(given.has('room'), (q) => q.where('room', '=', p.room)),
    ),
  )
const ranges = {
  sample_quarters: inRange('sample_quarters'),
  sample_hours: inRange('sample_hours'),
  sample_days: inRange('sample_days'),
}
/** Rows in no order. An endpoint that changed rooms within a slot has several rows of it. */
export const listRollups = (
  on: OrgReader,
  table: RollupTable,
  columns: readonly SensorColumn[],
  selection: EndpointSelection,
  { from, to }: Range,
) => ranges[table](partsOf(columns, selection))(on, { ...selection, from, to }) as Promise<RollupRow[]>

const atSlots = queryVariants(historyParts, (given) =>
  queryNumbers(rollupColumns(columnsIn(given)), (db, p: RollupsOf & { slots: readonly number[] }, engine) =>
    db
      .selectFrom('sample_quarters')
      .select(rollupColumns(columnsIn(given)))
      .where('org', '=', p.org)
      .where(isAnyNumberOf(engine, 'endpoint', p.endpoints))
      .where(isAnyNumberOf(engine, 'slot', p.slots))
      .$if(given.has('room'), (q) => q.where('room', '=', p.room)),
  ),
)
/** The given quarters of the given endpoints. */
export const listQuarters = (
  on: OrgReader,
  columns: readonly SensorColumn[],
  selection: EndpointSelection,
  slots: readonly number[],
) => atSlots(partsOf(columns, selection))(on, { ...selection, slots }) as Promise<RollupRow[]>

interface SamplesOf extends RollupsOf {
  readonly slots: readonly number[]
  readonly first: number
  readonly last: number
}
/**
 * Names slots and endpoints one by one, as in the primary key: a range of slots would contain the samples of all endpoints.
 * PostgreSQL also gets the range, so that it reads no other partition.
 */
const isOneOf = (engine: EngineName, p: SamplesOf) =>
  engine === 'postgres'
    ? sql<boolean>`${isAnyNumberOf(engine, 's.slot', p.slots)} and ${isAnyNumberOf(engine, 's.endpoint', p.endpoints)} and s.slot between ${p.first} and ${p.last}`
    : sql<boolean>`${isAnyNumberOf(engine, 's.slot', p.slots)} and ${isAnyNumberOf(engine, 's.endpoint', p.endpoints)}`

const samplesOf = ({ endpoints, room }: EndpointSelection, slots: readonly number[]): Omit<SamplesOf, 'org'> => ({
  endpoints,
  room,
  slots,
  first: slots[0] ?? 0,
  last: slots.at(-1) ?? 0,
})

export interface SlotRow extends StatisticsRow {
  /** The number of samples, whatever values they have. */
  samples: number
}
const sums = queryVariants(historyParts, (given) =>
  queryNumbers(['slot', 'samples', ...statistics(columnsIn(given))], (db, p: SamplesOf, engine) =>
    db
      .selectFrom('samples as s')
      .select('s.slot')
      .select((e) => [
        e.fn.countAll<number>().as('samples'),
        ...columnsIn(given).flatMap((c) => [
          e.fn.count<number>(`s.${c}`).as(`${c}_count`),
          e.fn.min(`s.${c}`).as(`${c}_min`),
          e.fn.max(`s.${c}`).as(`${c}_max`),
          e.fn.sum<number>(`s.${c}`).as(`${c}_sum`),
        ]),
      ])
      .where('s.org', '=', p.org)
      .where(isOneOf(engine, p))
      .$if(given.has('room'), (q) => q.where(roomAtTheTime, '=', p.room))
      .groupBy('s.slot'),
  ),
)
/** Raw samples of all given endpoints, summed up by slot. The slots must be in ascending order. */
export const listSums = (
  on: OrgReader,
  columns: readonly SensorColumn[],
  selection: EndpointSelection,
  slots: readonly number[],
) => sums(partsOf(columns, selection))(on, samplesOf(selection, slots)) as unknown as Promise<SlotRow[]>

export type RawRow = { endpoint: number; timestamp: number } & { [S in SensorColumn]: number | null }
const raw = queryVariants(historyParts, (given) =>
  wholeQuery((db, p: SamplesOf & Range, engine) =>
    db
      .selectFrom('samples as s')
      .select(['s.endpoint', 's.timestamp', ...columnsIn(given).map((c) => `s.${c}` as const)])
      .where('s.org', '=', p.org)
      .where(isOneOf(engine, p))
      .where('s.timestamp', '>=', p.from)
      .where('s.timestamp', '<', p.to)
      .$if(given.has('room'), (q) => q.where(roomAtTheTime, '=', p.room)),
  ),
)
/** Samples in no order. `from` and `to` are Unix seconds. */
export const listRaw = (
  on: OrgReader,
  columns: readonly SensorColumn[],
  selection: EndpointSelection,
  slots: readonly number[],
  { from, to }: Range,
) => raw(partsOf(columns, selection))(on, { ...samplesOf(selection, slots), from, to }) as Promise<RawRow[]>

/** The endpoints are those of a selection whose visibility was checked. */
const seek = (table: RollupTable | 'sample_due') =>
  wholeQueryOne((db, p: { org: number; endpoints: readonly number[]; slot: number }, engine) =>
    // One index lookup for each endpoint: the minimum over all would read all their rows.
    db
      .selectFrom(
        (engine === 'postgres'
          ? sql`(select jsonb_array_elements_text(${p.endpoints}::jsonb)::integer as value)`
          : sql`(select value from json_each(${p.endpoints}))`
        ).as('e'),
      )
      .select(
        sql<number | null>`min((
          select t.slot from ${sql.table(table)} t
          where t.org = ${p.org} and t.endpoint = e.value and t.slot >= ${p.slot} order by t.slot limit 1
        ))`.as('slot'),
      ),
  )
/** The first slot of any of the endpoints, from the given one on; null if there is none. */
export const findNextSlot = {
  sample_quarters: seek('sample_quarters'),
  sample_hours: seek('sample_hours'),
  sample_days: seek('sample_days'),
  sample_due: seek('sample_due'),
}
