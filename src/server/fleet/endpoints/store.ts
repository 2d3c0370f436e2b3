// SQL of endpoints, for the API and for the stores of other resources.
import { type Kysely, type Selectable, type SqlBool, sql } from 'kysely'
import type { EngineName } from '../../db/engine.ts'
import type { Tx } from '../../db/handles.ts'
import { isAnyNumberOf, isAnyOf, isIn } from '../../db/queries/any-of.ts'
import { byUuid, byUuids } from '../../db/queries/by-uuid.ts'
import { pickColumns } from '../../db/queries/columns.ts'
import { visibleQuery, visibleQueryOne, wholeQuery, wholeQueryExists, write } from '../../db/queries/query.ts'
import { reportedList } from '../../db/queries/reported-list.ts'
import { bySite } from '../../db/queries/site-filter.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import {
  connectionTime,
  endpointState,
  isConnected,
  type PresenceTimes,
  stateSince,
  unknownUntil,
} from '../../nodes/presence-sql.ts'
import { updateItemRooms } from '../gateways/store.ts'
import { keepAbsencesInRoom, keepAbsencesOfGateway } from '../sources/absence-store.ts'
import { assetColumns, endpointFieldColumns, type GivenValues, givenColumns } from './fields.ts'
import { insertPastCredential, insertPastCredentialsOfRoom } from './past-credential-store.ts'
import { insertStay, updateStayEnded, updateStaysEnded } from './stay-store.ts'

const fieldColumns = endpointFieldColumns.map((column) => `e.${column}` as const)
const columns = [
  'e.id',
  'e.version',
  'e.enrolment_time',
  'e.missing_at_source',
  'e.readings',
  ...fieldColumns,
  ...givenColumns.map((column) => `e.${column}` as const),
] as const

/** The columns of one endpoint that the list does not show. */
const unlistedColumns = [
  'e.enrolment_time',
  'e.missing_at_source',
  'e.readings',
  'e.given_name',
  'e.note',
  'e.given_sleeps',
] as const

/** Endpoints with the node that their device is connected to, for `isConnected` and `connectionTime`. */
const endpointsWithNode = (db: Kysely<DatabaseSchema>) =>
  db.selectFrom('endpoints as e').leftJoin('nodes as d', 'd.id', 'e.node_id')

const selectAllColumns = (db: Kysely<DatabaseSchema>, engine: EngineName) =>
  endpointsWithNode(db)
    .select(columns)
    .select([isConnected.as('connected'), connectionTime.as('connection_time')])
    .select(reportedList(engine, 'actions').as('actions'))

/** The columns of the presence that answers show. `unknown_until` says when the state UNKNOWN ends without a write. */
const presenceColumns = (p: PresenceTimes) =>
  [
    isConnected.as('connected'),
    connectionTime.as('connection_time'),
    endpointState(p).as('state'),
    stateSince(p).as('since'),
    unknownUntil(p).as('unknown_until'),
  ] as const

type Filter = PresenceTimes & {
  org: number
  region: number
  location: number
}

const listed = (db: Kysely<DatabaseSchema>, p: PresenceTimes) =>
  endpointsWithNode(db)
    .leftJoin('rooms as r', (j) => j.onRef('r.org', '=', 'e.org').onRef('r.id', '=', 'e.room_id'))
    // A config that was reported but never set has version 0.
    .leftJoin('endpoint_configs as c', (j) =>
      j.onRef('c.org', '=', 'e.org').onRef('c.endpoint_id', '=', 'e.id').on('c.version', '>', 0),
    )
    .select(['e.id', ...fieldColumns, ...assetColumns.map((column) => `e.${column}` as const)])
    .select(presenceColumns(p))
    .select(['r.name as room_name', 'c.state as config_state'])

const idsAtSite = (
  db: Kysely<DatabaseSchema>,
  p: Omit<Filter, keyof PresenceTimes>,
  byRegion: boolean,
  byLocation: boolean,
) =>
  db
    .selectFrom('endpoints as e')
    .leftJoin('rooms as r', (j) => j.onRef('r.org', '=', 'e.org').onRef('r.id', '=', 'e.room_id'))
    .$if(byRegion, (q) =>
      q.innerJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id')),
    )
    .select('e.id')
    .where('e.org', '=', p.org)
    .$if(byRegion, (q) => q.where(sql.ref('l.region_id'), '=', p.region))
    .$if(byLocation, (q) => q.where('r.location_id', '=', p.location))
    .orderBy('e.id')

/** Lists the ids of endpoints after an id, a page of them. The database sorts all endpoints that the filter finds for each page, so it gets no other columns. */
export const listEndpointIdsPage = bySite((byRegion, byLocation) =>
  visibleQuery(
    'location',
    'r.location_id',
    (db, p: Omit<Filter, keyof PresenceTimes> & { after: string; limit: number }) =>
      idsAtSite(db, p, byRegion, byLocation).where('e.id', '>', p.after).limit(p.limit),
  ),
)
export type ListedEndpoint = Awaited<ReturnType<typeof listListedEndpoints>>[number]

/** With the location and the region of each, by which callers filter, and all columns that an endpoint shows. */
const listedAnywhere = (db: Kysely<DatabaseSchema>, p: PresenceTimes & { org: number }) =>
  listed(db, p)
    .select(unlistedColumns)
    .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
    .select(['r.location_id', 'l.region_id'])
    .where('e.org', '=', p.org)
    .orderBy('e.id')

/** Returns the endpoints with these ids that the caller sees, with the columns of the list. */
export const listEndpointsOfIds = visibleQuery(
  'location',
  'r.location_id',
  (db, p: PresenceTimes & { org: number; ids: readonly string[] }, engine) =>
    listedAnywhere(db, p).where(isAnyOf(engine, 'e.id', p.ids)),
)

export type WholeListedEndpoint = Awaited<ReturnType<typeof listEndpointsOfIds>>[number]

/** Lists the devices of a gateway, with the columns of the list. */
export const listEndpointsVia = visibleQuery(
  'location',
  'r.location_id',
  (db, p: PresenceTimes & { org: number; via: string }) => listedAnywhere(db, p).where('e.via', '=', p.via),
)

/** Lists endpoints for the cache of the whole list. */
export const listEndpointsAfter = wholeQuery((db, p: PresenceTimes & { org: number; after: string; limit: number }) =>
  listed(db, p).where('e.org', '=', p.org).where('e.id', '>', p.after).orderBy('e.id').limit(p.limit),
)

/** Returns the endpoints with these ids, with the columns of the list, for the same cache. */
export const listListedEndpoints = wholeQuery(
  (db, p: PresenceTimes & { org: number; ids: readonly string[] }, engine) =>
    listed(db, p)
      .where('e.org', '=', p.org)
      .where(isAnyOf(engine, 'e.id', p.ids)),
)

export const findEndpoint = byUuid(
  visibleQueryOne('room', 'e.room_id', (db, p: { org: number; id: string }, engine) =>
    selectAllColumns(db, engine).where('e.org', '=', p.org).where('e.id', '=', p.id),
  ),
)

/** Finds an endpoint with everything that its answer shows. */
export const findShownEndpoint = byUuid(
  visibleQueryOne('location', 'r.location_id', (db, p: PresenceTimes & { org: number; id: string }) =>
    endpointsWithNode(db)
      .select(columns)
      .select(presenceColumns(p))
      .leftJoin('rooms as r', (j) => j.onRef('r.org', '=', 'e.org').onRef('r.id', '=', 'e.room_id'))
      .select('r.name as room_name')
      .where('e.org', '=', p.org)
      .where('e.id', '=', p.id),
  ),
)

/** Returns the version and the gateway of an endpoint that the caller sees. */
export const findEndpointVersion = byUuid(
  visibleQueryOne('room', 'e.room_id', (db, p: { org: number; id: string }) =>
    db.selectFrom('endpoints as e').select(['e.version', 'e.via']).where('e.org', '=', p.org).where('e.id', '=', p.id),
  ),
)

/** The columns that a write to many endpoints needs. */
const summaryColumns = ['e.id', 'e.serial', 'e.model', 'e.name', 'e.room_id', 'e.profile_id', 'e.source_type'] as const

const selectSummary = (db: Kysely<DatabaseSchema>) =>
  endpointsWithNode(db).select(summaryColumns).select(isConnected.as('connected'))

/** With what the device can do, for `canDo` and `takesProfile`. */
const selectSummaryAndActions = (db: Kysely<DatabaseSchema>, engine: EngineName) =>
  selectSummary(db).select([
    reportedList(engine, 'actions').as('actions'),
    reportedList(engine, 'configKeys').as('config_keys'),
  ])

/** Returns the endpoints with these ids that the caller sees. */
export const listEndpointsById = byUuids(
  visibleQuery('room', 'e.room_id', (db, p: { org: number; ids: readonly string[] }, engine) =>
    selectSummaryAndActions(db, engine)
      .where('e.org', '=', p.org)
      .where(isAnyOf(engine, 'e.id', p.ids)),
  ),
)
export type EndpointSummary = Awaited<ReturnType<typeof listEndpointsById>>[number]

/**
 * This is the only place of the rule of [contract 5.1.pairing]: endpoints with the same `leader` and `apart` are a group. An
 * enrolled leader must be in the same room, or list the endpoint. A leader that is not enrolled has a group in each room
 * (`apart`).
 */
const withGroup = (db: Kysely<DatabaseSchema>, engine: EngineName) => {
  const isListed =
    engine === 'postgres'
      ? sql<SqlBool>`(l.status::jsonb -> 'pairedSerials') @> to_jsonb(e.serial)`
      : sql<SqlBool>`exists (select 1 from json_each(l.status, '$.pairedSerials') where value = e.serial)`
  const isAbsent = sql<SqlBool>`e.pairing_serial is not null and l.id is null and e.room_id is not null`
  const isPaired = sql<SqlBool>`${isAbsent} or l.room_id = e.room_id or ${isListed}`
  return selectSummary(db)
    .leftJoin('endpoints as l', (j) => j.onRef('l.org', '=', 'e.org').onRef('l.serial', '=', 'e.pairing_serial'))
    .select(sql<string>`case when ${isPaired} then e.pairing_serial else e.serial end`.as('leader'))
    .select(sql<number>`case when ${isAbsent} then e.room_id else 0 end`.as('apart'))
}

/** Lists a page of all endpoints with their pair groups, in the order of their ids. */
export const listGroupedEndpointsAfter = wholeQuery((db, p: { org: number; after: string; limit: number }, engine) =>
  withGroup(db, engine)
    .select(['e.via', sql<number>`case when e.connection_time is null then 0 else 1 end`.as('was_connected')])
    .where('e.org', '=', p.org)
    .where('e.id', '>', p.after)
    .orderBy('e.id')
    .limit(p.limit),
)

/**
 * Returns these endpoints and all others in their groups, each once, including endpoints that the caller does not see. Members of a group
 * have the same `leader` and `apart`. The parts are materialized, because the statement refers to them several times. [contract 5.1.pairing]
 */
export const listPairedEndpoints = byUuids(
  wholeQuery((db, p: { org: number; ids: readonly string[] }, engine) =>
    db
      .with(
        (cte) => cte('mentioned').materialized(),
        (q) => {
          const named = q
            .selectFrom('endpoints')
            .where('org', '=', p.org)
            .where(isAnyOf(engine, 'id', p.ids))
          // Both are expressions: SQLite would compare a column with text affinity and could not use the index of leaders.
          const own = named.select(sql<string>`coalesce(serial, '')`.as('serial'))
          return own.unionAll(named.select(sql<string>`coalesce(pairing_serial, serial)`.as('serial')))
        },
      )
      // The candidates are the endpoints that name one of these serials as leader, or have it. An index finds both.
      .with(
        (cte) => cte('near').materialized(),
        (q) => {
          const all = q.selectFrom('endpoints').select('id').where('org', '=', p.org)
          const serials = sql`select serial from mentioned`
          return all
            .where(isIn(engine, sql`coalesce(pairing_serial, serial)`, serials))
            .unionAll(all.where(isIn(engine, sql.ref('serial'), serials)))
        },
      )
      .with(
        (cte) => cte('grouped').materialized(),
        () =>
          withGroup(db, engine)
            .select(reportedList(engine, 'actions').as('actions'))
            .where('e.org', '=', p.org)
            .where(isIn(engine, sql.ref('e.id'), sql`select id from near`)),
      )
      .selectFrom('grouped as g')
      .select(['g.id', 'g.serial', 'g.model', 'g.name', 'g.room_id', 'g.profile_id'])
      .select(['g.connected', 'g.leader', 'g.apart', 'g.actions', 'g.source_type'])
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('g.leader', 'g.apart'),
          'in',
          selectFrom('grouped as n')
            .select(['n.leader', 'n.apart'])
            .where(isAnyOf(engine, 'n.id', p.ids))
            .$asTuple('leader', 'apart'),
        ),
      )
      .orderBy('g.id'),
  ),
)

export type PairedEndpoint = Awaited<ReturnType<typeof listPairedEndpoints>>[number]

export const listEndpointsInRoom = visibleQuery('room', 'e.room_id', (db, p: { org: number; room: number }, engine) =>
  selectAllColumns(db, engine).where('e.org', '=', p.org).where('e.room_id', '=', p.room).orderBy('e.id'),
)

export const listShownEndpointsInRoom = visibleQuery(
  'room',
  'e.room_id',
  (db, p: PresenceTimes & { org: number; room: number }) =>
    endpointsWithNode(db)
      .select(columns)
      .select(presenceColumns(p))
      .where('e.org', '=', p.org)
      .where('e.room_id', '=', p.room)
      .orderBy('e.id'),
)
export type EndpointRow = Awaited<ReturnType<typeof listShownEndpointsInRoom>>[number]

export const listEndpointsInRooms = visibleQuery(
  'room',
  'e.room_id',
  (db, p: { org: number; rooms: readonly number[] }, engine) =>
    selectSummaryAndActions(db, engine)
      .where('e.org', '=', p.org)
      .where(isAnyNumberOf(engine, 'e.room_id', p.rooms))
      .orderBy('e.room_id')
      .orderBy('e.id'),
)

type Connection = { org: number; id: string; node: number; connection: number; hash: Buffer }

/**
 * Returns whether the endpoint's row names this connection, and its credential is still the one that was used. On PostgreSQL
 * the row is locked, so no other node can take the device over before this transaction ends.
 */
export const lockConnection = wholeQueryExists((db, p: Connection, engine) =>
  db
    .selectFrom('endpoints as e')
    .innerJoin('credential_directory as c', (j) => j.onRef('c.org', '=', 'e.org').onRef('c.endpoint_id', '=', 'e.id'))
    .select('e.id')
    .where('e.org', '=', p.org)
    .where('e.id', '=', p.id)
    .where('e.node_id', '=', p.node)
    .where('e.connection', '=', p.connection)
    .where('c.hash', '=', p.hash)
    .$if(engine === 'postgres', (q) => q.forShare('e')),
)

type NewGivenValues = GivenValues & Pick<Selectable<DatabaseSchema['endpoints']>, 'org' | 'id' | 'rest'>
export const updateGivenValues = write((db, p: NewGivenValues) =>
  db
    .updateTable('endpoints')
    .set((e) => ({ version: e('version', '+', 1), name: p.name, rest: p.rest, ...pickColumns(p, givenColumns) }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

export const hasEndpointWithProfile = wholeQueryExists((db, p: { org: number; profile: number }) =>
  db.selectFrom('endpoints').select('id').where('org', '=', p.org).where('profile_id', '=', p.profile).limit(1),
)

export const updateProfileOf = write((db, p: { org: number; ids: readonly string[]; profile: number | null }, engine) =>
  db
    .updateTable('endpoints')
    .set((e) => ({ profile_id: p.profile, version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'id', p.ids)),
)

const updateRoomColumn = write((db, p: { org: number; ids: readonly string[]; room: number | null }, engine) =>
  db
    .updateTable('endpoints')
    .set((e) => ({ room_id: p.room, version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'id', p.ids)),
)
/** Null takes the endpoints out of their rooms. */
export async function updateRoomOf(tx: Tx, ids: readonly string[], room: number | null, at: number) {
  await updateRoomColumn(tx, { ids, room })
  await updateItemRooms(tx, { endpoints: ids, room })
  if (room !== null) await insertStay(tx, ids, room, at)
  else for (const id of ids) await updateStayEnded(tx, id, at)
}

/** Takes their gateway from the devices of a gateway that is unenrolled. */
const clearVia = write((db, p: { org: number; gateway: string }) =>
  db
    .updateTable('endpoints')
    .set({ via: null, source_id: null, source_type: null, missing_at_source: 0 })
    .where('org', '=', p.org)
    .where('via', '=', p.gateway),
)
const clearViaInRoom = write((db, p: { org: number; room: number }) =>
  db
    .updateTable('endpoints')
    .set({ via: null, source_id: null, source_type: null, missing_at_source: 0 })
    .where('org', '=', p.org)
    .where('via', 'in', (q) =>
      q.selectFrom('endpoints as g').select('g.id').where('g.org', '=', p.org).where('g.room_id', '=', p.room),
    ),
)

const clearViaOf = write((db, p: { org: number; ids: readonly string[] }, engine) =>
  db
    .updateTable('endpoints')
    .set((e) => ({
      via: null,
      source_id: null,
      source_type: null,
      missing_at_source: 0,
      version: e('version', '+', 1),
    }))
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'id', p.ids)),
)
const deleteCredentialsOf = write((db, p: { org: number; ids: readonly string[] }, engine) =>
  db
    .deleteFrom('credential_directory')
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'endpoint_id', p.ids)),
)
/** Takes endpoints from their gateway, which knows their credentials. */
export async function releaseEndpoints(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await deleteCredentialsOf(tx, { ids })
  await clearViaOf(tx, { ids })
}

/** Foreign keys delete its credential and its configs with it. */
const deleteRow = write((db, p: { org: number; id: string }) =>
  db.deleteFrom('endpoints').where('org', '=', p.org).where('id', '=', p.id),
)
export async function deleteEndpoint(tx: Tx, id: string, at: number) {
  await updateStayEnded(tx, id, at)
  await insertPastCredential(tx, { id, at })
  await clearVia(tx, { gateway: id })
  await keepAbsencesOfGateway(tx, { gateway: id, at })
  await deleteRow(tx, { id })
}

const deleteRowsInRoom = write((db, p: { org: number; room: number }) =>
  db
    .deleteFrom('endpoints')
    .where('org', '=', p.org)
    .where('room_id', '=', p.room)
    .returning(['id', 'serial', 'model', 'name']),
)
export async function deleteEndpointsInRoom(tx: Tx, room: number, at: number) {
  await updateStaysEnded(tx, room, at)
  await insertPastCredentialsOfRoom(tx, { room, at })
  await clearViaInRoom(tx, { room })
  await keepAbsencesInRoom(tx, { room, at })
  return deleteRowsInRoom(tx, { room })
}
