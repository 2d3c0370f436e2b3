// SQL of sources, their devices and their links.
import { type Kysely, sql } from 'kysely'
import { isAnyNumberOf, isAnyOf } from '../../db/queries/any-of.ts'
import { byUuid } from '../../db/queries/by-uuid.ts'
import { pickColumns } from '../../db/queries/columns.ts'
import { query, queryOne, wholeQuery, wholeQueryOne, write } from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { type LinkedKind, type SourceDeviceState, type SourceRow, sourceColumns } from './fields.ts'

type SourceKey = { org: number; id: string }

const shownSources = (db: Kysely<DatabaseSchema>, p: { org: number }) =>
  db
    .selectFrom('sources as s')
    .leftJoin('endpoints as g', (j) => j.onRef('g.org', '=', 's.org').onRef('g.id', '=', 's.gateway_id'))
    .leftJoin('rooms as r', (j) => j.onRef('r.org', '=', 's.org').onRef('r.id', '=', 's.enrol_room_id'))
    .select(sourceColumns.map((column) => `s.${column}` as const))
    .select(['g.name as gateway_name', 'r.id as known_enrol_room_id'])
    .where('s.org', '=', p.org)
export type ShownSource = Awaited<ReturnType<typeof listSources>>[number]

export const listSources = wholeQuery((db, p: { org: number }) =>
  shownSources(db, p).orderBy('s.created_at').orderBy('s.id'),
)
export const findSource = byUuid(wholeQueryOne((db, p: SourceKey) => shownSources(db, p).where('s.id', '=', p.id)))

/** Lists the sources of a gateway, for the gateway itself. */
export const listSourcesOfGateway = query((db, p: { org: number; gateway: string }) =>
  db
    .selectFrom('sources as s')
    .select(sourceColumns.map((column) => `s.${column}` as const))
    .select(sql<number>`case when s.structure_at is null then 0 else 1 end`.as('has_structure'))
    .select(
      sql<number>`(select count(*) from source_devices d where d.org = s.org and d.source_id = s.id)`.as('devices'),
    )
    .where('s.org', '=', p.org)
    .where('s.gateway_id', '=', p.gateway)
    .orderBy('s.created_at')
    .orderBy('s.id'),
)

export const insertSource = write((db, p: SourceRow & { org: number }) =>
  db.insertInto('sources').values({ org: p.org, ...pickColumns(p, sourceColumns) }),
)

/** The structure is not among the columns: only the gateway reports it. */
const changedColumns = [
  'name',
  'url',
  'settings',
  'secrets',
  'enrol_room_id',
  'revision',
  'target_revision',
  'state',
  'reason',
  'since',
  'reached_at',
  'content',
] as const
export const updateSource = write((db, p: SourceRow & { org: number }) =>
  db.updateTable('sources').set(pickColumns(p, changedColumns)).where('org', '=', p.org).where('id', '=', p.id),
)

export const deleteSource = write((db, p: SourceKey) =>
  db.deleteFrom('sources').where('org', '=', p.org).where('id', '=', p.id),
)

/** A device with an item is adopted, whatever its row says. */
const deviceState = sql<SourceDeviceState>`case when i.id is not null then 'ADOPTED'
  when d.is_excluded = 1 then 'EXCLUDED' else 'FOUND' end`

const devicesWithItems = (db: Kysely<DatabaseSchema>, p: { org: number }) =>
  db
    .selectFrom('source_devices as d')
    .leftJoin('gateway_devices as i', (j) =>
      j.onRef('i.org', '=', 'd.org').onRef('i.source_id', '=', 'd.source_id').onRef('i.source_key', '=', 'd.key'),
    )
    .where('d.org', '=', p.org)

/** Counts the devices of all sources. */
export const countDevices = wholeQuery((db, p: { org: number }) =>
  devicesWithItems(db, p)
    .select(['d.source_id', deviceState.as('state'), 'd.is_missing'])
    .select(({ fn }) => fn.countAll<number>().as('devices'))
    .groupBy(['d.source_id', deviceState, 'd.is_missing']),
)

/** Counts the devices of one source. */
export const countDevicesOfSource = wholeQuery((db, p: { org: number; source: string }) =>
  devicesWithItems(db, p)
    .select(['d.source_id', deviceState.as('state'), 'd.is_missing'])
    .select(({ fn }) => fn.countAll<number>().as('devices'))
    .where('d.source_id', '=', p.source)
    .groupBy(['d.source_id', deviceState, 'd.is_missing']),
)
export type SourceDeviceCount = Awaited<ReturnType<typeof countDevices>>[number]

const shownDevices = (db: Kysely<DatabaseSchema>, p: { org: number; source: string }) =>
  devicesWithItems(db, p)
    .leftJoin('rooms as r', (j) => j.onRef('r.org', '=', 'i.org').onRef('r.id', '=', 'i.room_id'))
    .leftJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'i.org').onRef('e.id', '=', 'i.endpoint_id'))
    .select(['d.key', 'd.is_missing', 'd.report', 'd.found_at', deviceState.as('state')])
    .select(['i.id as item_id', 'i.state as item_state', 'i.reason as item_reason', 'i.room_id', 'i.name as item_name'])
    .select(['r.name as room_name', 'e.id as known_endpoint_id'])
    .where('d.source_id', '=', p.source)

/** A page, in the order in which they were found. */
export const listDevicesAfter = wholeQuery(
  (db, p: { org: number; source: string; foundAt: number; key: string; limit: number }) =>
    shownDevices(db, p)
      .where((e) =>
        e.or([e('d.found_at', '>', p.foundAt), e.and([e('d.found_at', '=', p.foundAt), e('d.key', '>', p.key)])]),
      )
      .orderBy('d.found_at')
      .orderBy('d.key')
      .limit(p.limit),
)
export type SourceDeviceRow = Awaited<ReturnType<typeof listDevicesAfter>>[number]

export const listDevicesByKey = wholeQuery((db, p: { org: number; source: string; keys: readonly string[] }, engine) =>
  shownDevices(db, p)
    .where(isAnyOf(engine, 'd.key', p.keys))
    .orderBy('d.found_at')
    .orderBy('d.key'),
)

export const findLastMessage = queryOne((db, p: { org: number; source: string; key: string }) =>
  db
    .selectFrom('source_devices')
    .select('last_message')
    .where('org', '=', p.org)
    .where('source_id', '=', p.source)
    .where('key', '=', p.key),
)

export const updateExcluded = write(
  (db, p: { org: number; source: string; keys: readonly string[]; excluded: number }, engine) =>
    db
      .updateTable('source_devices')
      .set({ is_excluded: p.excluded })
      .where('org', '=', p.org)
      .where('source_id', '=', p.source)
      .where(isAnyOf(engine, 'key', p.keys)),
)

/** Excludes the devices whose endpoints are deleted. Call it while their items still name the endpoints. */
export const updateExcludedOfEndpoints = write((db, p: { org: number; endpoints: readonly string[] }, engine) =>
  db
    .updateTable('source_devices')
    .set({ is_excluded: 1 })
    .where('org', '=', p.org)
    .where((e) =>
      e.exists(
        e
          .selectFrom('gateway_devices as i')
          .select('i.id')
          .whereRef('i.org', '=', 'source_devices.org')
          .whereRef('i.source_id', '=', 'source_devices.source_id')
          .whereRef('i.source_key', '=', 'source_devices.key')
          .where(isAnyOf(engine, 'i.endpoint_id', p.endpoints)),
      ),
    ),
)

const listIds = (table: 'regions' | 'locations' | 'rooms' | 'profiles') =>
  wholeQuery((db, p: { org: number; ids: readonly number[] }, engine) =>
    db
      .selectFrom(table)
      .select('id')
      .where('org', '=', p.org)
      .where(isAnyNumberOf(engine, 'id', p.ids)),
  )
/** List those of the ids that are here. */
export const listLinkable: Readonly<Record<LinkedKind, ReturnType<typeof listIds>>> = {
  region: listIds('regions'),
  location: listIds('locations'),
  room: listIds('rooms'),
  profile: listIds('profiles'),
}

type Link = { org: number; source: string; kind: LinkedKind; theirId: string; ourId: number }
/** A link to something that is no longer here makes way for it. */
export const upsertLink = write((db, p: Link) =>
  db
    .insertInto('source_links')
    .values({ org: p.org, source_id: p.source, kind: p.kind, their_id: p.theirId, our_id: p.ourId })
    .onConflict((c) => c.columns(['org', 'source_id', 'kind', 'their_id']).doUpdateSet({ our_id: p.ourId })),
)

export const deleteSourceLink = write((db, p: Omit<Link, 'ourId'>) =>
  db
    .deleteFrom('source_links')
    .where('org', '=', p.org)
    .where('source_id', '=', p.source)
    .where('kind', '=', p.kind)
    .where('their_id', '=', p.theirId),
)
