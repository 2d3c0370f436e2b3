// SQL of gateways, their items and their tests.
import { type Kysely, sql } from 'kysely'
import { isAnyOf } from '../../db/queries/any-of.ts'
import { byUuid } from '../../db/queries/by-uuid.ts'
import { pickColumns } from '../../db/queries/columns.ts'
import {
  visibleQuery,
  visibleQueryOne,
  wholeQuery,
  wholeQueryOne,
  write,
  writeTelemetryExists,
  writeTelemetryOne,
} from '../../db/queries/query.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { systemWrite } from '../../db/system.ts'
import { endpointState, isConnected, type PresenceTimes, stateSince } from '../../nodes/presence-sql.ts'
import { type GatewayItemRow, itemColumns, type TargetRow, targetColumns } from './fields.ts'

type GatewayKey = { org: number; id: string }

const gatewayEndpoints = (db: Kysely<DatabaseSchema>) =>
  db
    .selectFrom('gateways as g')
    .innerJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'g.org').onRef('e.id', '=', 'g.endpoint_id'))
    .leftJoin('nodes as d', 'd.id', 'e.node_id')

export const findGateway = byUuid(
  visibleQueryOne('endpoint', 'g.endpoint_id', (db, p: GatewayKey) =>
    gatewayEndpoints(db)
      .select(['e.id', 'e.serial', 'e.model', 'e.name', 'e.room_id', 'g.version'])
      .select(isConnected.as('connected'))
      .where('g.org', '=', p.org)
      .where('g.endpoint_id', '=', p.id),
  ),
)

export const listGateways = visibleQuery('endpoint', 'g.endpoint_id', (db, p: PresenceTimes & { org: number }) =>
  gatewayEndpoints(db)
    .leftJoin('rooms as r', (j) => j.onRef('r.org', '=', 'e.org').onRef('r.id', '=', 'e.room_id'))
    .leftJoin('locations as l', (j) => j.onRef('l.org', '=', 'r.org').onRef('l.id', '=', 'r.location_id'))
    .select(['e.id', 'e.serial', 'e.name', 'e.room_id', 'e.status'])
    .select(['r.name as room_name', 'l.id as location_id', 'l.name as location_name'])
    .select([endpointState(p).as('state'), stateSince(p).as('since')])
    .where('g.org', '=', p.org)
    .orderBy('e.enrolment_time')
    .orderBy('e.id'),
)
export type GatewayRow = Awaited<ReturnType<typeof listGateways>>[number]

/** Counts the items that the caller sees. */
export const countItemsByState = visibleQuery('gatewayDevice', 'i.id', (db, p: { org: number }) =>
  db
    .selectFrom('gateway_devices as i')
    .select(({ fn }) => ['i.gateway_id', 'i.state', fn.countAll<number>().as('items')])
    .where('i.org', '=', p.org)
    .groupBy(['i.gateway_id', 'i.state']),
)

const shownItems = (db: Kysely<DatabaseSchema>, p: { org: number; gateway: string }) =>
  db
    .selectFrom('gateway_devices as i')
    .leftJoin('rooms as r', (j) => j.onRef('r.org', '=', 'i.org').onRef('r.id', '=', 'i.room_id'))
    .leftJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'i.org').onRef('e.id', '=', 'i.endpoint_id'))
    .select(itemColumns.map((column) => `i.${column}` as const))
    .select([
      'r.name as room_name',
      'e.id as known_endpoint_id',
      'e.name as endpoint_name',
      'e.serial as endpoint_serial',
    ])
    .where('i.org', '=', p.org)
    .where('i.gateway_id', '=', p.gateway)

export const listGatewayItems = visibleQuery('gatewayDevice', 'i.id', (db, p: { org: number; gateway: string }) =>
  shownItems(db, p).orderBy('i.created_at').orderBy('i.id'),
)

export const findItem = byUuid(
  visibleQueryOne('gatewayDevice', 'i.id', (db, p: { org: number; gateway: string; id: string }) =>
    shownItems(db, p).where('i.id', '=', p.id),
  ),
)

/** For the gateway itself, whose items can be in rooms of several regions. */
export const findOwnItem = byUuid(
  wholeQueryOne((db, p: { org: number; gateway: string; id: string }) => shownItems(db, p).where('i.id', '=', p.id)),
)

/** Lists the items of a gateway, including those that the caller does not see. */
export const listAllItems = wholeQuery((db, p: { org: number; gateway: string }) =>
  db
    .selectFrom('gateway_devices')
    .select(['id', 'host', 'endpoint_id'])
    .where('org', '=', p.org)
    .where('gateway_id', '=', p.gateway)
    .orderBy('id'),
)

/** Lists the items of gateways that are in a room. */
export const listItemsOfGatewaysInRoom = wholeQuery((db, p: { org: number; room: number }) =>
  db
    .selectFrom('gateway_devices as i')
    .innerJoin('endpoints as g', (j) => j.onRef('g.org', '=', 'i.org').onRef('g.id', '=', 'i.gateway_id'))
    .select(['i.id', 'i.endpoint_id'])
    .where('i.org', '=', p.org)
    .where('g.room_id', '=', p.room)
    .orderBy('i.id'),
)

export const insertItem = write((db, p: GatewayItemRow & { org: number }) =>
  db.insertInto('gateway_devices').values({ org: p.org, ...pickColumns(p, itemColumns) }),
)

export const updateItem = write((db, p: GatewayItemRow & { org: number }) =>
  db.updateTable('gateway_devices').set(pickColumns(p, itemColumns)).where('org', '=', p.org).where('id', '=', p.id),
)

export const deleteItem = write((db, p: { org: number; id: string }) =>
  db.deleteFrom('gateway_devices').where('org', '=', p.org).where('id', '=', p.id),
)

/** Lists the devices of a source that were adopted. */
export const listItemsOfSource = wholeQuery((db, p: { org: number; source: string }) =>
  db
    .selectFrom('gateway_devices as i')
    .leftJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'i.org').onRef('e.id', '=', 'i.endpoint_id'))
    .select(['i.id', 'e.id as known_endpoint_id'])
    .where('i.org', '=', p.org)
    .where('i.source_id', '=', p.source)
    .orderBy('i.id'),
)

export const deleteItemsOfSource = write((db, p: { org: number; source: string }) =>
  db.deleteFrom('gateway_devices').where('org', '=', p.org).where('source_id', '=', p.source),
)

/** Deletes the items of endpoints, as far as they belong to sources. Returns their gateways. */
export const deleteSourceItemsOfEndpoints = write((db, p: { org: number; endpoints: readonly string[] }, engine) =>
  db
    .deleteFrom('gateway_devices')
    .where('org', '=', p.org)
    .where('source_id', 'is not', null)
    .where(isAnyOf(engine, 'endpoint_id', p.endpoints))
    .returning('gateway_id'),
)

/** Deletes the items in a room, as far as they belong to sources. Returns their gateways. */
export const deleteSourceItemsInRoom = write((db, p: { org: number; room: number }) =>
  db
    .deleteFrom('gateway_devices')
    .where('org', '=', p.org)
    .where('source_id', 'is not', null)
    .where('room_id', '=', p.room)
    .returning('gateway_id'),
)

/** The items of a source show its address. */
export const updateItemAddresses = write((db, p: { org: number; source: string; host: string; port: number }) =>
  db
    .updateTable('gateway_devices')
    .set({ host: p.host, port: p.port })
    .where('org', '=', p.org)
    .where('source_id', '=', p.source),
)

/** Stores the endpoint of an item; null if it has none. */
export const updateItemEndpoint = write((db, p: { org: number; id: string; endpoint: string | null }) =>
  db.updateTable('gateway_devices').set({ endpoint_id: p.endpoint }).where('org', '=', p.org).where('id', '=', p.id),
)

type ItemsState = Pick<GatewayItemRow, 'state' | 'reason' | 'since'> & { org: number }
const newState = (p: ItemsState) => ({ state: p.state, reason: p.reason, since: p.since, duplicate_of: null })

/** Clears the endpoints of items. Returns the gateways of the items. */
export const updateItemsWithoutEndpoint = write((db, p: ItemsState & { endpoints: readonly string[] }, engine) =>
  db
    .updateTable('gateway_devices')
    .set({ endpoint_id: null, ...newState(p) })
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'endpoint_id', p.endpoints))
    .returning('gateway_id'),
)

/** Clears the room and the endpoints of items. Returns the gateways of the items. */
export const updateItemsWithoutRoom = write((db, p: ItemsState & { room: number }) =>
  db
    .updateTable('gateway_devices')
    .set({ room_id: null, endpoint_id: null, ...newState(p) })
    .where('org', '=', p.org)
    .where('room_id', '=', p.room)
    .returning('gateway_id'),
)

/** An item that has enrolled is in the room of its endpoint. */
export const updateItemRooms = write(
  (db, p: { org: number; endpoints: readonly string[]; room: number | null }, engine) =>
    db
      .updateTable('gateway_devices')
      .set({ room_id: p.room })
      .where('org', '=', p.org)
      .where(isAnyOf(engine, 'endpoint_id', p.endpoints)),
)

/**
 * Stores the state that a gateway reports, or that the service has decided at its request. Returns undefined if nothing differs, or if a
 * person has changed the item since.
 */
export const updateReportedState = writeTelemetryOne(
  (db, p: ItemsState & { gateway: string; id: string; revision: number; duplicateOf: string | null }) =>
    db
      .updateTable('gateway_devices')
      .set({
        state: p.state,
        reason: p.reason,
        since: sql<number>`case when state = ${p.state} then since else ${p.since} end`,
        duplicate_of: p.duplicateOf,
        reached_at: sql<number | null>`case when ${p.state} = 'CONNECTED' then ${p.since} else reached_at end`,
      })
      .where('org', '=', p.org)
      .where('id', '=', p.id)
      .where('gateway_id', '=', p.gateway)
      .where('revision', '=', p.revision)
      .where('state', '!=', 'REMOVED')
      .where(sql<boolean>`(state <> ${p.state} or coalesce(reason, '') <> coalesce(${p.reason}, ''))`)
      .returning('id'),
)

/** Raises the versions of lists. Their gateways then read them again. */
export const raiseListVersions = write((db, p: { org: number; gateways: readonly string[] }, engine) =>
  db
    .updateTable('gateways')
    .set((e) => ({ version: e('version', '+', 1) }))
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'endpoint_id', p.gateways)),
)

/** Returns whether the endpoint was not known as a gateway. */
export const insertGateway = writeTelemetryExists((db, p: GatewayKey) =>
  db
    .insertInto('gateways')
    .values({ org: p.org, endpoint_id: p.id, version: 1 })
    .onConflict((c) => c.columns(['org', 'endpoint_id']).doNothing())
    .returning('endpoint_id'),
)

export const findListVersion = wholeQueryOne((db, p: GatewayKey) =>
  db.selectFrom('gateways').select('version').where('org', '=', p.org).where('endpoint_id', '=', p.id),
)

/** A page of the list, for the gateway itself. */
export const listItemsAfter = wholeQuery((db, p: { org: number; gateway: string; after: string; limit: number }) =>
  shownItems(db, p).where('i.id', '>', p.after).orderBy('i.id').limit(p.limit),
)

export type TestRow = TargetRow & { id: string; gateway_id: string; created_at: number }
export const insertTest = write((db, p: TestRow & { org: number }) =>
  db.insertInto('gateway_tests').values({
    org: p.org,
    id: p.id,
    gateway_id: p.gateway_id,
    ...pickColumns(p, targetColumns),
    created_at: p.created_at,
    ended: 0,
    answer: null,
  }),
)

/** Lists tests that wait for an answer of the gateway. */
export const listOpenTests = wholeQuery((db, p: { org: number; gateway: string; since: number }) =>
  db
    .selectFrom('gateway_tests')
    .select(['id', ...targetColumns])
    .where('org', '=', p.org)
    .where('gateway_id', '=', p.gateway)
    .where('ended', '=', 0)
    .where('created_at', '>', p.since)
    .orderBy('id'),
)

/** Lists when the tests of a gateway started, and whether they have ended. */
export const listTestTimes = wholeQuery((db, p: { org: number; gateway: string; since: number }) =>
  db
    .selectFrom('gateway_tests')
    .select(['created_at', 'ended'])
    .where('org', '=', p.org)
    .where('gateway_id', '=', p.gateway)
    .where('created_at', '>', p.since)
    .orderBy('created_at'),
)

/** Deletes tests of all organisations, with the secrets of those that never ended because the server was killed. */
export const deleteTestsUntil = systemWrite((db, p: { until: number }) =>
  db.deleteFrom('gateway_tests').where('created_at', '<=', p.until),
)

/** Ends a test that was not ended yet, and deletes its secrets. */
export const updateTestEnded = writeTelemetryExists(
  (db, p: { org: number; gateway: string; id: string; answer: string | null }) =>
    db
      .updateTable('gateway_tests')
      .set({ ended: 1, answer: p.answer, secrets: null })
      .where('org', '=', p.org)
      .where('gateway_id', '=', p.gateway)
      .where('id', '=', p.id)
      .where('ended', '=', 0)
      .returning('id'),
)

export const findTest = wholeQueryOne((db, p: { org: number; id: string }) =>
  db.selectFrom('gateway_tests').select(['ended', 'answer']).where('org', '=', p.org).where('id', '=', p.id),
)
