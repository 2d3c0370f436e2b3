// Identifies devices by their credential, and stores their connects, disconnects, status reports and sensors. [contract 5.1]

import { setImmediate as nextTurn } from 'node:timers/promises'
import { gatewaySupport } from '../../../contract/device/protocol.ts'
import type { ConnectionEnd } from '../../../contract/fleet/connections.ts'
import { isCredential, tokenHash } from '../../auth/token.ts'
import type { Services } from '../../context/services.ts'
import { isoTime } from '../../core/clock.ts'
import { noteReportedSensors, type SensorSet, sensorColumnsOf } from '../../devices/device-sensors.ts'
import {
  ConnectionReplaced,
  connectionKey,
  type Device,
  type DeviceConnection,
  type Presence,
  type StoredConnection,
} from '../../devices/mqtt/handlers.ts'
import { finishPowerCommands } from '../commands/power.ts'
import type { CommandRow } from '../commands/store.ts'
import { commandEventDraft, commandView } from '../commands/view.ts'
import { endConfigWithoutSettings } from '../configs/no-settings.ts'
import { updatePendingAgain } from '../configs/store.ts'
import { hiddenBeforeEndMs } from '../connections/availability.ts'
import { insertEndedSpan, insertReplacedSpan } from '../connections/store.ts'
import { insertGateway } from '../gateways/store.ts'
import {
  findByCredential,
  findState,
  findStatus,
  listConnectionsAfter,
  listConnectionsById,
  listIdsVia,
  updateConnected,
  updateConnectedFromAway,
  updateDisconnected,
  updateDisconnectedFrom,
  updateLeader,
  updateLeftWithGateways,
  updateMeasuredSensors,
  updateName,
  updateNamedSensors,
  updateReadings,
  updateStatus,
  updateStatusConnection,
} from './device-store.ts'
import { queuePresenceMessages } from './endpoint-messages.ts'
import { restOf, shownName } from './fields.ts'
import { mergeReport, type ReportedStatus } from './reported-status.ts'
import { lockConnection } from './store.ts'

/** Returns the device if the credential is that of the endpoint. A malformed credential costs no database query. */
export async function findDeviceByCredential(
  services: Services,
  endpointId: string,
  credential: string,
): Promise<Device | undefined> {
  if (!isCredential(credential)) return undefined
  const row = await findByCredential(services.db.system, { hash: tokenHash(credential) })
  if (!row || row.id !== endpointId) return undefined
  const { id, number, serial, model } = row
  const sensors = {
    named: row.sensors_named,
    measured: row.sensors_measured,
    isPresenceOnly: row.presence_only === 1,
  }
  return { org: { key: row.org_key, id: row.org_id }, id, number, serial, model, sensors, wasAway: row.away === 1 }
}

export async function markConnected(
  services: Services,
  deviceConnection: DeviceConnection,
): Promise<Presence | undefined> {
  const { device, since, credentialHash } = deviceConnection
  const { db, feed, bus } = services
  const { org, id } = device
  const hash = Buffer.from(credentialHash, 'hex')
  const thisNode = requireNode(services)
  const { id: node } = thisNode
  const times = services.reconnects.current
  const row = await db.forOrg(org.key).telemetry(async (on) => {
    const connect = { id, hash, node, at: since }
    let row = device.wasAway ? await updateConnectedFromAway(on, connect) : undefined
    if (!row) {
      await insertReplacedSpan(on, { ...times, id, hash, at: since })
      row = await updateConnected(on, { ...times, ...connect })
    }
    // While the row still names a node, channels were not told of the disconnect, and need not be told of the connect.
    if (row?.previous_node_id === null) {
      await queuePresenceMessages(on, [id], { type: 'endpoint.connected', at: since })
    }
    return row
  }, id)
  if (!row) return undefined
  if (thisNode.id !== node) throw new Error('this node was declared dead while the device connected')
  const { connection, previous_node_id: previous } = row
  if (previous !== null && previous !== node) {
    bus.send('takenOver', { endpointId: id, nodeId: previous, connection: connection - 1 })
  }
  const presence = { state: 'ONLINE' as const, since: isoTime(row.online_since ?? since) }
  feed.forOrg(org.key).publish([{ type: 'connected', endpointId: id, presence }])
  if (row.is_gateway) await publishDevicesOf(services, org.key, id)
  deviceConnection.isGateway = Boolean(row.has_list)
  return { nodeId: node, number: connection, mayHavePending: Boolean(row.may_wait) || deviceConnection.isGateway }
}

/** Changes nothing if the device has connected again since, here or at another node. */
export async function markDisconnected(
  services: Services,
  { device: { org, id }, nodeId, number }: DeviceConnection,
  why: ConnectionEnd,
): Promise<void> {
  const { db, clock, feed, reconnects } = services
  const at = clock.now()
  const times = reconnects.current
  const unknownUntil = why === 'SERVER_ENDED' ? at + times.settleMs : null
  // The number 0 means that it is not known whether this connection was stored. This node has no other connection of the device.
  const node = number > 0 ? nodeId : requireNode(services).id
  const row = await db.forOrg(org.key).telemetry(async (on) => {
    await insertEndedSpan(on, { ...times, id, node, connection: number, at, why, unknownUntil })
    const row =
      number > 0
        ? await updateDisconnected(on, { id, node, connection: number, at, unknownUntil })
        : await updateDisconnectedFrom(on, { id, node, at, unknownUntil })
    if (row) await queuePresenceMessages(on, [id], { type: 'endpoint.disconnected', at, why })
    if (row?.is_gateway) await updateLeftWithGateways(on, [id], at - hiddenBeforeEndMs)
    return row
  }, id)
  if (!row) return
  const isReconnecting = unknownUntil !== null && unknownUntil > at
  const canDiffer = row.via !== null || row.rest !== null
  const { state = 'OFFLINE' } = (canDiffer && (await findState(db.forOrg(org.key), { ...times, id }))) || {}
  const presence = isReconnecting || state === 'UNKNOWN' ? { state: 'UNKNOWN' as const } : { state, since: isoTime(at) }
  feed.forOrg(org.key).publish([{ type: 'disconnected', endpointId: id, presence }])
  if (row.is_gateway) await publishDevicesOf(services, org.key, id)
}

/** The state of devices that are not connected changes when their gateway leaves, and when it returns. */
export async function publishDevicesOf({ db, feed }: Services, org: number, gateway: string): Promise<void> {
  const devices = await listIdsVia(db.forOrg(org), { gateway })
  feed.forOrg(org).publish(devices.map(({ id }) => ({ type: 'status', endpointId: id })))
}

const rowsPerPage = 500

/** Reads the connections to this node that the database names, by endpoint: all of them, or those of some endpoints. */
export async function listOwnConnections(
  services: Services,
  endpointIds?: readonly string[],
): Promise<ReadonlyMap<string, StoredConnection>> {
  const { system } = services.db
  const { id: node } = requireNode(services)
  const stored = new Map<string, StoredConnection>()
  const add = (rows: Awaited<ReturnType<typeof listConnectionsById>>) => {
    for (const { id, connection, hash } of rows)
      stored.set(id, { number: connection, credentialHash: hash.toString('hex') })
  }
  if (endpointIds) add(await listConnectionsById(system, { node, ids: endpointIds }))
  for (let last = { org: 0, id: '' }; !endpointIds; await nextTurn()) {
    const rows = await listConnectionsAfter(system, { node, ...last, limit: rowsPerPage })
    add(rows)
    const end = rows.at(-1)
    if (!end || rows.length < rowsPerPage) break
    last = end
  }
  return stored
}

/** Only a server has connections of devices, and every server has a row of its own. */
function requireNode({ node }: Services) {
  if (!node) throw new Error('a command has no connections of devices')
  return node
}

/** Stores nothing if another connection has replaced this one. A change of readings alone makes no event. */
export async function storeStatus(
  services: Services,
  connection: DeviceConnection,
  report: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { db, feed, clock } = services
  const { device, number } = connection
  const { id } = device
  const { pairingSerial, ...reported } = report
  noteReportedSensors(device.sensors, reported)
  // A node of the previous version stores the status of a gateway without making its list.
  const becomesGateway = !connection.isGateway && isGatewayStatus(reported)
  const switched: CommandRow[] = []
  const outcome = await db.forOrg(device.org.key).telemetry(async (on) => {
    switched.length = 0
    const before = (await lockConnection(on, connectionKey(connection))) && (await findStatus(on, { id }))
    if (!before) return 'replaced'
    if (becomesGateway) await insertGateway(on, { id })
    const { status, readings } = mergeReport(before, reported)
    if (report.power !== undefined) switched.push(...(await finishPowerCommands(on, id, powerOf(status), clock.now())))
    if (readings !== before.readings) await updateReadings(on, { id, readings })
    // An empty serial names no leader, and must not group all devices that report one.
    const leader = pairingSerial === undefined ? before.pairing_serial : (pairingSerial as string | null) || null
    if (status === before.status && leader === before.pairing_serial) {
      if (before.status_connection === number) return 'unchanged'
      await updateStatusConnection(on, { id, connection: number })
      return 'first'
    }
    const fields = JSON.parse(status)
    const hasLeftCall = isInCall(JSON.parse(before.status)) && !isInCall(fields)
    const call_ended_at = hasLeftCall ? clock.now() : before.call_ended_at
    const rest = restOf(before.given_sleeps, status)
    await updateStatus(on, { id, status, call_ended_at, rest, connection: number })
    if (leader !== before.pairing_serial) await updateLeader(on, { id, pairing_serial: leader })
    const name = shownName(before.given_name, status)
    if (name !== before.name) await updateName(on, { id, name })
    const sensors = sensorColumnsOf(fields)
    if (sensors.sensors_named !== before.sensors_named || sensors.presence_only !== before.presence_only)
      await updateNamedSensors(on, { id, ...sensors })
    const keysChanged = report.configKeys !== undefined && configKeysText(before.status) !== configKeysText(status)
    const version = keysChanged ? await updatePendingAgain(on, id, clock.now()) : undefined
    return { version }
  })
  if (outcome === 'replaced') throw new ConnectionReplaced()
  if (becomesGateway) {
    connection.isGateway = true
    services.devices.wake([id])
  }
  feed.forOrg(device.org.key).publish(switched.map((row) => commandEventDraft(commandView(row))))
  if (outcome === 'unchanged') return
  if (outcome !== 'first') {
    const events = feed.forOrg(device.org.key)
    events.publish([{ type: 'status', endpointId: id }])
    const { version } = outcome
    // The device has other settings now, so its config is sent again.
    if (version !== undefined) {
      events.publish([{ type: 'config', endpointId: id, config: { version, state: 'PENDING' } }])
      services.devices.wake([id])
    }
  }
  // Repeated with the first status of each connection, because a crash can prevent it after the status was stored.
  if (report.actions !== undefined) await endConfigWithoutSettings(services, device)
}

/** Notes sensors of which the device has sent a number for the first time. This happens a few times in the life of a device. */
export async function storeMeasured({ db }: Services, { org, id, sensors }: Device, added: SensorSet): Promise<void> {
  await db.forOrg(org.key).telemetry((on) => updateMeasuredSensors(on, { id, added }), id)
  sensors.measured |= added
}

const isGatewayStatus = ({ supports }: ReportedStatus): boolean => supports?.includes(gatewaySupport) ?? false
const powerOf = (status: string) => (JSON.parse(status) as ReportedStatus).power
const configKeysText = (status: string): string =>
  JSON.stringify((JSON.parse(status) as ReportedStatus).configKeys ?? null)

const isInCall = ({ inCallStatus = null }: Readonly<Record<string, unknown>>): boolean =>
  inCallStatus !== null && inCallStatus !== 'NONE'
