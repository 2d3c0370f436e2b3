// SQL that finds the endpoints of a target, with their rooms, and how much these are used. [contract 12.job]

import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { EngineName } from '../../db/engine.ts'
import type { OrgReader } from '../../db/handles.ts'
import { isAnyNumberOf, isAnyOf } from '../../db/queries/any-of.ts'
import { visibleQuery, visibleQueryOne, wholeQuery } from '../../db/queries/query.ts'
import { reportedList } from '../../db/queries/reported-list.ts'
import { queryVariants } from '../../db/queries/variants.ts'
import { isConnected } from '../../nodes/presence-sql.ts'

const targetKeys = [
  'regionIds',
  'locationIds',
  'roomIds',
  'endpointIds',
  'models',
  'profileIds',
  'firmwareVersions',
  'tags',
  'timezones',
] as const
type TargetKey = (typeof targetKeys)[number]
type TargetKeys = { readonly [K in TargetKey]?: readonly (number | string)[] | undefined }
type TargetValues = TargetKeys & { readonly exclude?: TargetKeys | undefined }
/** The name of a condition, and of its parameter. */
type TargetPart = TargetKey | `excluded_${TargetKey}`
type PartValues = { readonly [P in TargetPart]: readonly never[] }
const numberColumns: { readonly [K in TargetKey]?: string } = {
  regionIds: 'l.region_id',
  locationIds: 'r.location_id',
  roomIds: 'e.room_id',
  profileIds: 'e.profile_id',
}
const textColumns: { readonly [K in TargetKey]?: string } = { endpointIds: 'e.id', models: 'e.model' }

function matchesKey(engine: EngineName, key: TargetKey, values: readonly never[]): RawBuilder<SqlBool> {
  return matchesColumn(engine, key, values, numberColumns[key])
}

function matchesColumn(
  engine: EngineName,
  key: TargetKey,
  values: readonly never[],
  numbers: string | undefined,
): RawBuilder<SqlBool> {
  if (key === 'timezones') return isInTimeZone(engine, numbers ?? 'e.org', values)
  if (numbers !== undefined) return isAnyNumberOf(engine, numbers, values)
  const texts = textColumns[key]
  if (texts !== undefined) return isAnyOf(engine, texts, values)
  const isPostgres = engine === 'postgres'
  if (key === 'firmwareVersions') {
    return isPostgres
      ? sql`(e.status::jsonb ->> 'firmwareVersion') = any(array(select jsonb_array_elements_text(${values}::jsonb)))`
      : sql`(e.status ->> '$.firmwareVersion') in (select value from json_each(${values}))`
  }
  return isPostgres
    ? sql`exists (select 1 from jsonb_array_elements_text(r.tags::jsonb) t
        where t.value = any(array(select jsonb_array_elements_text(${values}::jsonb))))`
    : sql`exists (select 1 from json_each(r.tags) t where t.value in (select value from json_each(${values})))`
}

/** `org` is a column with the organisation, whose time zone holds for what has no other. */
const isInTimeZone = (engine: EngineName, org: string, zones: readonly never[]): RawBuilder<SqlBool> => {
  const zone = sql`coalesce(l.timezone, (select o.timezone from orgs o where o.key = ${sql.ref(org)}))`
  return engine === 'postgres'
    ? sql`${zone} = any(array(select jsonb_array_elements_text(${zones}::jsonb)))`
    : sql`${zone} in (select value from json_each(${zones}))`
}

interface PageOfTarget {
  readonly org: number
  readonly after: string
  readonly limit: number
}

const excludedName = (key: TargetKey) => `excluded_${key}` as const
const partsOf = (keys: readonly TargetKey[]): TargetPart[] => [...keys, ...keys.map(excludedName)]

/** The conditions of a target, for the endpoints `e` in the rooms `r` of the locations `l`. */
function conditionsOf(engine: EngineName, given: ReadonlySet<TargetPart>, p: PartValues): RawBuilder<SqlBool>[] {
  const included = includedIn(given).map((key) => matchesKey(engine, key, p[key]))
  const excluded = excludedIn(given).map((key) => matchesKey(engine, key, p[excludedName(key)]))
  return [...included, ...(excluded.length > 0 ? [isNotExcluded(excluded)] : [])]
}

const listWith = queryVariants(partsOf(targetKeys), (given) =>
  visibleQuery('room', 'e.room_id', (db, p: PageOfTarget & PartValues, engine) => {
    let list = db
      .selectFrom('endpoints as e')
      .leftJoin('nodes as d', 'd.id', 'e.node_id')
      .leftJoin('rooms as r', (j) => j.onRef('r.org', '=', 'e.org').onRef('r.id', '=', 'e.room_id'))
      .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
      .select([
        'e.id',
        'e.number',
        'e.serial',
        'e.model',
        'e.name',
        'e.room_id as roomId',
        'e.profile_id',
        'e.source_type',
      ])
      .select([
        isConnected.as('connected'),
        reportedList(engine, 'actions').as('actions'),
        reportedList(engine, 'configKeys').as('config_keys'),
      ])
      .where('e.org', '=', p.org)
      .where('e.id', '>', p.after)
      .orderBy('e.id')
      .limit(p.limit)
    for (const condition of conditionsOf(engine, given, p)) list = list.where(condition)
    return list
  }),
)

const locationsWith = queryVariants(partsOf(targetKeys), (given) =>
  visibleQuery('room', 'e.room_id', (db, p: { org: number } & PartValues, engine) => {
    let list = db
      .selectFrom('endpoints as e')
      .leftJoin('rooms as r', (j) => j.onRef('r.org', '=', 'e.org').onRef('r.id', '=', 'e.room_id'))
      .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
      .select('r.location_id as location')
      .distinct()
      .where('e.org', '=', p.org)
    for (const condition of conditionsOf(engine, given, p)) list = list.where(condition)
    return list
  }),
)

const includedIn = (given: ReadonlySet<TargetPart>) => targetKeys.filter((key) => given.has(key))
const excludedIn = (given: ReadonlySet<TargetPart>) => targetKeys.filter((key) => given.has(excludedName(key)))

/** A comparison with null is neither true nor false, and excludes nothing. */
const isNotExcluded = (conditions: readonly RawBuilder<SqlBool>[]) =>
  sql<SqlBool>`case when ${sql.join(conditions, sql` and `)} then 1 else 0 end = 0`

/** The values of the conditions that are given, by name. */
const givenValues = (include: TargetKeys, exclude: TargetKeys = {}) =>
  Object.fromEntries([
    ...keysOf(include).map((key) => [key, include[key]]),
    ...keysOf(exclude).map((key) => [excludedName(key), exclude[key]]),
  ]) as PartValues
const keysOf = (keys: TargetKeys) => targetKeys.filter((key) => keys[key] !== undefined)

/** Lists the next endpoints of a target that the caller sees, by id. */
export function listTargeted(on: OrgReader, { exclude, ...include }: TargetValues, page: Omit<PageOfTarget, 'org'>) {
  const values = givenValues(include, exclude)
  return listWith(Object.keys(values) as TargetPart[])(on, { ...values, ...page })
}

/** Lists the locations of the endpoints of a target that the caller sees; null stands for endpoints that are in none. */
export function listTargetedLocations(on: OrgReader, { exclude, ...include }: TargetValues) {
  const values = givenValues(include, exclude)
  return locationsWith(Object.keys(values) as TargetPart[])(on, values)
}

/** The target keys that a room without endpoints can match, with their number columns. Tags are not numbers. */
const roomColumns: { readonly [K in TargetKey]?: string | undefined } = {
  regionIds: 'l.region_id',
  locationIds: 'r.location_id',
  roomIds: 'r.id',
  tags: undefined,
  timezones: 'r.org',
}
const isOfRooms = (key: TargetKey) => Object.hasOwn(roomColumns, key)

const emptyRoomCountWith = queryVariants(partsOf(targetKeys.filter(isOfRooms)), (given) =>
  visibleQueryOne('room', 'r.id', (db, p: { org: number } & PartValues, engine) => {
    const matches = (key: TargetKey, name: TargetPart) => matchesColumn(engine, key, p[name], roomColumns[key])
    let count = db
      .selectFrom('rooms as r')
      .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
      .select(sql<number>`cast(count(*) as integer)`.as('count'))
      .where('r.org', '=', p.org)
      .where(sql<SqlBool>`not exists (select 1 from endpoints as e where e.org = r.org and e.room_id = r.id)`)
    for (const key of includedIn(given)) count = count.where(matches(key, key))
    const excluded = excludedIn(given)
    if (excluded.length === 0) return count
    return count.where(isNotExcluded(excluded.map((key) => matches(key, excludedName(key)))))
  }),
)

/** Counts the rooms that match a target and have no endpoint. They are no units. */
export async function countEmptyRooms(on: OrgReader, { exclude = {}, ...include }: TargetValues): Promise<number> {
  if (!keysOf(include).every(isOfRooms)) return 0
  // A room without an endpoint has no model, profile or firmware that could exclude it.
  const values = givenValues(include, keysOf(exclude).every(isOfRooms) ? exclude : {})
  const count = emptyRoomCountWith(Object.keys(values) as TargetPart[])
  return (await count(on, values))?.count ?? 0
}
export type TargetedEndpoint = Awaited<ReturnType<typeof listTargeted>>[number]

/** Reads rooms of units, also those that the caller does not see. */
export const listRoomsWithWindows = wholeQuery((db, p: { org: number; ids: readonly number[] }, engine) =>
  db
    .selectFrom('rooms as r')
    .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
    .select(['r.id', 'r.name', 'r.location_id', 'r.tags', 'l.region_id', 'l.timezone', 'l.change_window'])
    .select('l.name as location_name')
    .where('r.org', '=', p.org)
    .where(isAnyNumberOf(engine, 'r.id', p.ids)),
)
export type RoomWithWindow = Awaited<ReturnType<typeof listRoomsWithWindows>>[number]

/** Lists the numbers of the devices that were in one of the rooms since a time in Unix seconds, also of those that are not any more. */
export const listNumbersInRooms = wholeQuery((db, p: { org: number; rooms: readonly number[]; from: number }, engine) =>
  db
    .selectFrom('endpoint_rooms as s')
    .select('s.endpoint')
    .distinct()
    .where('s.org', '=', p.org)
    .where(isAnyNumberOf(engine, 's.room_id', p.rooms))
    .where((e) => e.or([e('s.until', 'is', null), e('s.until', '>', p.from)])),
)

/** For each of the endpoints and each room that it was in: the daily means of the people that it counted, added up. */
export const listRoomUse = wholeQuery(
  (db, p: { org: number; endpoints: readonly number[]; firstDay: number }, engine) =>
    db
      .selectFrom('sample_days as s')
      .select(['s.endpoint', 's.room', sql<number>`sum(s.people_sum * 1.0 / s.people_count)`.as('people')])
      .where('s.org', '=', p.org)
      .where(isAnyNumberOf(engine, 's.endpoint', p.endpoints))
      .where('s.slot', '>=', p.firstDay)
      .where('s.people_count', '>', 0)
      .groupBy(['s.endpoint', 's.room']),
)

/** Reads the keys that profiles lock. */
export const listProfileKeys = wholeQuery((db, p: { org: number; ids: readonly number[] }, engine) =>
  db
    .selectFrom('profiles as p')
    .select(['p.id', 'p.config', 'p.secrets'])
    .where('p.org', '=', p.org)
    .where(isAnyNumberOf(engine, 'p.id', p.ids)),
)
