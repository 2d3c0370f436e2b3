// SQL of the writes that devices cause: enrolment, connects, disconnects and status reports.

import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely'
import type { TelemetryTx, Tx } from '../../db/handles.ts'
import { isAnyOf } from '../../db/queries/any-of.ts'
import { pickColumns } from '../../db/queries/columns.ts'
import { nextId } from '../../db/queries/next-id.ts'
import {
  wholeQuery,
  wholeQueryOne,
  write,
  writeAny,
  writeExists,
  writeTelemetry,
  writeTelemetryOne,
} from '../../db/queries/query.ts'
import { reportedList } from '../../db/queries/reported-list.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { systemQuery, systemQueryOne } from '../../db/system.ts'
import {
  endpointState,
  isAway,
  isConnected,
  isGatewayAway,
  onlineSinceInUpdate,
  type PresenceTimes,
  reconnectsUntilInUpdate,
  stateSince,
} from '../../nodes/presence-sql.ts'
import { updateSpansLeftWithGateways, updateSpansLeftWithSource } from '../connections/gateway-store.ts'
import { enrolledColumns } from './fields.ts'
import { insertStay } from './stay-store.ts'

export const findByCredential = systemQueryOne((db, p: { hash: Buffer }) =>
  db
    .selectFrom('credential_directory as c')
    .innerJoin('orgs as o', 'o.key', 'c.org')
    .innerJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'c.org').onRef('e.id', '=', 'c.endpoint_id'))
    .select(['o.key as org_key', 'o.id as org_id', 'e.id', 'e.number', 'e.serial', 'e.model'])
    .select(['e.sensors_named', 'e.sensors_measured', 'e.presence_only'])
    .select(sql<number>`case when ${isAway('e')} then 1 else 0 end`.as('away'))
    .where('c.hash', '=', p.hash),
)

/** Searches all organisations. */
export const findBySerial = systemQueryOne((db, p: { serial: string }, engine) =>
  db
    .selectFrom('serial_directory as s')
    .innerJoin('endpoints as e', (j) => j.onRef('e.org', '=', 's.org').onRef('e.id', '=', 's.endpoint_id'))
    .leftJoin('nodes as d', 'd.id', 'e.node_id')
    .select(['s.org', 'e.id', 'e.model', 'e.name', 'e.room_id', 'e.profile_id', 'e.pairing_serial', 'e.via'])
    .select([isConnected.as('connected'), reportedList(engine, 'actions').as('actions')])
    .where('s.serial', '=', p.serial),
)

/** Returns false if another organisation claimed the serial concurrently. */
export const claimSerial = writeExists((db, p: { serial: string; org: number; id: string }) =>
  db
    .insertInto('serial_directory')
    .values({ serial: p.serial, org: p.org, endpoint_id: p.id })
    .onConflict((c) => c.column('serial').doNothing())
    .returning('serial'),
)

export type EnrolledRow = Pick<
  Selectable<DatabaseSchema['endpoints']>,
  'id' | 'serial' | (typeof enrolledColumns)[number]
> & { room_id: number }
const insertRow = write((db, p: EnrolledRow & { org: number; number: number }) =>
  db.insertInto('endpoints').values({
    org: p.org,
    id: p.id,
    number: p.number,
    version: 1,
    serial: p.serial,
    ...pickColumns(p, enrolledColumns),
    node_id: null,
    connection_time: null,
    online_since: null,
    unknown_until: null,
    rest: null,
    overslept_at: null,
    status: '{}',
  }),
)
export async function insertEndpoint(tx: Tx, endpoint: EnrolledRow): Promise<void> {
  await insertRow(tx, { ...endpoint, number: await nextId(tx, 'endpoint') })
  await insertStay(tx, [endpoint.id], endpoint.room_id, endpoint.enrolment_time)
}

const updateRow = write((db, p: Omit<EnrolledRow, 'serial'> & { org: number }) =>
  db
    .updateTable('endpoints')
    .set((e) => ({ version: e('version', '+', 1), ...pickColumns(p, enrolledColumns) }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)
export async function updateEnrolled(tx: Tx, endpoint: EnrolledRow): Promise<void> {
  await updateRow(tx, endpoint)
  await insertStay(tx, [endpoint.id], endpoint.room_id, endpoint.enrolment_time)
}

const deleteCredential = write((db, p: { org: number; id: string }) =>
  db.deleteFrom('credential_directory').where('org', '=', p.org).where('endpoint_id', '=', p.id),
)
const insertCredential = write((db, p: { org: number; id: string; hash: Buffer }) =>
  db.insertInto('credential_directory').values({ hash: p.hash, org: p.org, endpoint_id: p.id }),
)
/** The old credential stops working. */
export const replaceCredential = async (tx: Tx, id: string, hash: Buffer) => {
  await deleteCredential(tx, { id })
  await insertCredential(tx, { id, hash })
}

/** 1 for an endpoint through which others are seen. */
const isGateway = (table: 'e' | 'endpoints') => sql<number>`case when exists (select 1 from endpoints as v
  where v.org = ${sql.ref(`${table}.org`)} and v.via = ${sql.ref(`${table}.id`)}) then 1 else 0 end`

type Connect = { org: number; id: string; hash: Buffer; node: number; at: number }

/** `may_wait` is false if the device has confirmed its config and has no open command, which saves the queries for both. */
const connect = (db: Kysely<DatabaseSchema>, p: Connect, onlineSince: RawBuilder<number>) =>
  db
    .updateTable('endpoints')
    .set((e) => ({
      node_id: p.node,
      previous_node_id: e.ref('node_id'),
      connection: e('connection', '+', 1),
      connection_time: p.at,
      online_since: onlineSince,
      unknown_until: null,
      left_with_gateway: 0,
      overslept_at: null,
    }))
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('credential_directory').select('org').where('hash', '=', p.hash)),
    )
    .returning(({ exists, or, selectFrom }) => [
      'connection',
      'previous_node_id',
      'online_since',
      isGateway('endpoints').as('is_gateway'),
      exists(
        selectFrom('gateways as g')
          .select('g.org')
          .whereRef('g.org', '=', 'endpoints.org')
          .whereRef('g.endpoint_id', '=', 'endpoints.id'),
      ).as('has_list'),
      or([
        exists(
          selectFrom('endpoint_configs as c')
            .select('c.org')
            .whereRef('c.org', '=', 'endpoints.org')
            .whereRef('c.endpoint_id', '=', 'endpoints.id')
            .where((c) => c.or([c('c.state', '=', 'PENDING'), c('c.reported_version', '!=', c.ref('c.version'))])),
        ),
        exists(
          selectFrom('operations as o')
            .select('o.org')
            .whereRef('o.org', '=', 'endpoints.org')
            .whereRef('o.endpoint_id', '=', 'endpoints.id')
            .where(sql<boolean>`o.state in ('QUEUED', 'SENT', 'ACKNOWLEDGED')`),
        ),
      ]).as('may_wait'),
    ])

/**
 * Points the endpoint at this node, and returns the number of the new connection and the node that it pointed at before. Returns
 * undefined if the credential was replaced since the device was identified.
 */
export const updateConnected = writeTelemetryOne((db, p: PresenceTimes & Connect) =>
  connect(db, p, onlineSinceInUpdate(p, p.at)),
)

/** Does the same for a device that is away, and is cheaper. No span ends. Returns undefined if the device is not away. */
export const updateConnectedFromAway = writeTelemetryOne((db, p: Connect) =>
  connect(db, p, sql`cast(${p.at} as bigint)`).where(isAway('endpoints')),
)

/** A row of an earlier version has only the time of its connection, which the disconnect replaces. */
const storedOnlineSince = sql<number | null>`coalesce(online_since, connection_time)`

/** `unknownUntil` is set if the server ended the connection, so the device has time to come back. */
type Disconnect = { org: number; id: string; node: number; at: number; unknownUntil: number | null }

const disconnect = (db: Kysely<DatabaseSchema>, p: Disconnect) =>
  db
    .updateTable('endpoints')
    .set({
      node_id: null,
      connection_time: p.at,
      online_since: storedOnlineSince,
      unknown_until: p.unknownUntil,
      left_with_gateway: isGatewayAway('endpoints'),
    })
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where('node_id', '=', p.node)
    .returning(['via', 'rest', isGateway('endpoints').as('is_gateway')])

/** Returns undefined if the device has connected again since, here or at another node, or was unenrolled. */
export const updateDisconnected = writeTelemetryOne((db, p: Disconnect & { connection: number }) =>
  disconnect(db, p).where('connection', '=', p.connection),
)

/** For a device that has no connection to this node, where the number of its last one is not known. */
export const updateDisconnectedFrom = writeTelemetryOne(disconnect)

const updateRowsLeftWithGateways = writeTelemetry(
  (db, p: { org: number; gateways: readonly string[]; from: number }, engine) =>
    db
      .updateTable('endpoints')
      .set({ left_with_gateway: 1 })
      .where('org', '=', p.org)
      .where(isAnyOf(engine, 'via', p.gateways))
      .where('node_id', 'is', null)
      .where('connection_time', '>=', p.from),
)

/** Marks the devices of gateways, and their connections, that ended at a time or later. */
export async function updateLeftWithGateways(on: TelemetryTx, gateways: readonly string[], from: number) {
  if (gateways.length === 0) return
  await updateRowsLeftWithGateways(on, { gateways, from })
  await updateSpansLeftWithGateways(on, { gateways, from })
}

const updateRowsLeftWithSource = writeTelemetry((db, p: { org: number; source: string; from: number }) =>
  db
    .updateTable('endpoints')
    .set({ left_with_gateway: 1 })
    .where('org', '=', p.org)
    .where('source_id', '=', p.source)
    .where('node_id', 'is', null)
    .where('connection_time', '>=', p.from),
)

/** Does the same for the devices of a source. */
export async function updateLeftWithSource(on: TelemetryTx, left: { readonly source: string; readonly from: number }) {
  await updateRowsLeftWithSource(on, left)
  await updateSpansLeftWithSource(on, left)
}

/** Lists the devices that are seen through a gateway. */
export const listIdsVia = wholeQuery((db, p: { org: number; gateway: string }) =>
  db.selectFrom('endpoints').select('id').where('org', '=', p.org).where('via', '=', p.gateway).orderBy('id'),
)

/** Lists the devices of a source that were adopted. */
export const listIdsOfSource = wholeQuery((db, p: { org: number; source: string }) =>
  db.selectFrom('endpoints').select('id').where('org', '=', p.org).where('source_id', '=', p.source).orderBy('id'),
)

/** Lists the devices of a source whose rows do not say whether it lists them. */
export const listOtherwiseMissing = wholeQuery((db, p: { org: number; source: string }) =>
  db
    .selectFrom('endpoints as e')
    .innerJoin('gateway_devices as i', (j) => j.onRef('i.org', '=', 'e.org').onRef('i.endpoint_id', '=', 'e.id'))
    .innerJoin('source_devices as d', (j) =>
      j.onRef('d.org', '=', 'i.org').onRef('d.source_id', '=', 'i.source_id').onRef('d.key', '=', 'i.source_key'),
    )
    .select(['e.id', 'd.is_missing'])
    .where('e.org', '=', p.org)
    .where('e.source_id', '=', p.source)
    .whereRef('e.missing_at_source', '!=', 'd.is_missing')
    .orderBy('e.id'),
)

export const updateMissingAtSource = writeAny(
  (db, p: { org: number; ids: readonly string[]; missing: number }, engine) =>
    db
      .updateTable('endpoints')
      .set({ missing_at_source: p.missing })
      .where('org', '=', p.org)
      .where(isAnyOf(engine, 'id', p.ids)),
)

/** Returns the state of an endpoint, for the event of a change. */
export const findState = wholeQueryOne((db, p: PresenceTimes & { org: number; id: string }) =>
  db
    .selectFrom('endpoints as e')
    .leftJoin('nodes as d', 'd.id', 'e.node_id')
    .select(endpointState(p).as('state'))
    .where('e.org', '=', p.org)
    .where('e.id', '=', p.id),
)

/**
 * Lists devices that have been asleep since before a time. The time of the row alone can be that of a connect: it stays until the ended
 * node of the device is cleared.
 */
export const listOverslept = wholeQuery((db, p: PresenceTimes & { org: number; before: number; limit: number }) =>
  db
    .selectFrom('endpoints as e')
    .leftJoin('nodes as d', 'd.id', 'e.node_id')
    .select(['e.id', 'e.number'])
    .where('e.org', '=', p.org)
    .where('e.rest', 'is not', null)
    .where('e.overslept_at', 'is', null)
    .where('e.connection_time', '<=', p.before)
    .where(endpointState(p), '=', 'ASLEEP')
    .where(stateSince(p), '<=', p.before)
    .orderBy('e.connection_time')
    .limit(p.limit),
)

/** Leaves out devices that have connected since they were listed. */
export const updateOverslept = writeTelemetry(
  (db, p: { org: number; ids: readonly string[]; before: number; at: number }, engine) =>
    db
      .updateTable('endpoints')
      .set({ overslept_at: p.at })
      .where('org', '=', p.org)
      .where(isAnyOf(engine, 'id', p.ids))
      .where('connection_time', '<=', p.before),
)

const connectionsOfNode = (db: Kysely<DatabaseSchema>, node: number) =>
  db
    .selectFrom('endpoints as e')
    .innerJoin('credential_directory as c', (j) => j.onRef('c.org', '=', 'e.org').onRef('c.endpoint_id', '=', 'e.id'))
    .select(['e.org', 'e.id', 'e.connection', 'c.hash'])
    .where('e.node_id', '=', node)

/** Lists the connections to a node, of all organisations, after an endpoint. */
export const listConnectionsAfter = systemQuery((db, p: { node: number; org: number; id: string; limit: number }) =>
  connectionsOfNode(db, p.node)
    .where(sql<boolean>`(e.org, e.id) > (${p.org}, ${p.id})`)
    .orderBy('e.org')
    .orderBy('e.id')
    .limit(p.limit),
)

/** Lists those connections to a node that belong to one of these endpoints. */
export const listConnectionsById = systemQuery((db, p: { node: number; ids: readonly string[] }, engine) =>
  connectionsOfNode(db, p.node).where(isAnyOf(engine, 'e.id', p.ids)),
)

/** Finds an organisation with an endpoint that points at the node. */
export const findOrgOfNode = systemQueryOne((db, p: { node: number }) =>
  db.selectFrom('endpoints').select('org').where('node_id', '=', p.node).limit(1),
)

/** Lists at most `limit` endpoints that point at the node. On PostgreSQL they are locked, and endpoints whose devices are connecting are left out. */
export const lockEndpointsOfNode = wholeQuery((db, p: { org: number; node: number; limit: number }, engine) =>
  db
    .selectFrom('endpoints as e')
    .select(['e.id', isGateway('e').as('is_gateway')])
    .where('e.org', '=', p.org)
    .where('e.node_id', '=', p.node)
    .limit(p.limit)
    .$if(engine === 'postgres', (q) => q.forUpdate('e').skipLocked()),
)

/** Disconnects endpoints whose node has ended. */
export const updateNodeCleared = writeTelemetry(
  (db, p: PresenceTimes & { org: number; ids: readonly string[]; endedAt: number }, engine) =>
    db
      .updateTable('endpoints')
      .set({
        node_id: null,
        online_since: storedOnlineSince,
        unknown_until: reconnectsUntilInUpdate(p),
        connection_time: sql<number>`case when connection_time > ${p.endedAt} then connection_time else ${p.endedAt} end`,
      })
      .where('org', '=', p.org)
      .where(isAnyOf(engine, 'id', p.ids)),
)

/** Lists endpoints of all organisations whose grace period the last stop interrupted. */
export const listInterrupted = systemQuery((db, p: { lastEnd: number; settledAt: number; limit: number }) =>
  db
    .selectFrom('endpoints')
    .select(['org', 'id', 'number'])
    .where('unknown_until', '>', p.lastEnd)
    .where('unknown_until', '<', p.settledAt)
    .orderBy('unknown_until')
    .limit(p.limit),
)

/** Leaves out endpoints that have connected since they were listed. */
export const updateInterrupted = writeTelemetry(
  (db, p: { org: number; ids: readonly string[]; settledAt: number }, engine) =>
    db
      .updateTable('endpoints')
      .set({ unknown_until: p.settledAt })
      .where('org', '=', p.org)
      .where(isAnyOf(engine, 'id', p.ids))
      .where('unknown_until', 'is not', null),
)

/** Called after `lockConnection`. */
export const findStatus = wholeQueryOne((db, p: { org: number; id: string }) =>
  db
    .selectFrom('endpoints')
    .select(['status', 'readings', 'name', 'given_name', 'given_sleeps', 'sensors_named', 'presence_only'])
    .select(['pairing_serial', 'call_ended_at', 'status_connection'])
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

type Status = Pick<Selectable<DatabaseSchema['endpoints']>, 'org' | 'id' | 'status' | 'call_ended_at' | 'rest'>
export const updateStatus = writeTelemetry((db, p: Status & { connection: number }) =>
  db
    .updateTable('endpoints')
    .set({ status: p.status, call_ended_at: p.call_ended_at, rest: p.rest, status_connection: p.connection })
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

/** A statement of its own: lists of endpoints do not show readings, and stay cached. */
export const updateReadings = writeTelemetry((db, p: { org: number; id: string; readings: string }) =>
  db.updateTable('endpoints').set({ readings: p.readings }).where('org', '=', p.org).where('id', '=', p.id),
)

/** Notes the first status of a connection if it changes nothing else. */
export const updateStatusConnection = writeTelemetry((db, p: { org: number; id: string; connection: number }) =>
  db.updateTable('endpoints').set({ status_connection: p.connection }).where('org', '=', p.org).where('id', '=', p.id),
)

/** A statement of its own: incidents depend on which columns are written, and most reports do not change the name. */
export const updateName = writeTelemetry((db, p: { org: number; id: string; name: string | null }) =>
  db.updateTable('endpoints').set({ name: p.name }).where('org', '=', p.org).where('id', '=', p.id),
)

type NamedSensors = { org: number; id: string; sensors_named: number | null; presence_only: number }
/** A statement of its own: most reports do not change what the device measures. */
export const updateNamedSensors = writeTelemetry((db, p: NamedSensors) =>
  db
    .updateTable('endpoints')
    .set({ sensors_named: p.sensors_named, presence_only: p.presence_only })
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

/** Adds sensors to those that the endpoint has measured. */
export const updateMeasuredSensors = writeTelemetry((db, p: { org: number; id: string; added: number }) =>
  db
    .updateTable('endpoints')
    .set({ sensors_measured: sql<number>`sensors_measured | cast(${p.added} as integer)` })
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)

/** A statement of its own: caches of groups depend on which columns are written, and most reports do not change the leader. */
export const updateLeader = writeTelemetry((db, p: { org: number; id: string; pairing_serial: string | null }) =>
  db.updateTable('endpoints').set({ pairing_serial: p.pairing_serial }).where('org', '=', p.org).where('id', '=', p.id),
)
