// Moves commands forward: sent, reported by their devices, or expired. These writes are not audited. [contract 5.4.audit]

import { type CommandReport, type DeviceCommandMessage, resendAfterMs } from '../../../contract/device/protocol.ts'
import type { Services } from '../../context/services.ts'
import type { TelemetryTx } from '../../db/handles.ts'
import { ConnectionReplaced, connectionKey, type DeviceConnection } from '../../devices/mqtt/handlers.ts'
import { findStatus } from '../endpoints/device-store.ts'
import { queueFinishedCommands } from '../endpoints/endpoint-messages.ts'
import type { ReportedStatus } from '../endpoints/reported-status.ts'
import { lockConnection } from '../endpoints/store.ts'
import { storeAttemptReport } from './deferred/attempt-report.ts'
import { holdBackAttempts } from './deferred/deferred-reboots.ts'
import { showsPower } from './power.ts'
import { listOverdueEndpoints, listQueuedEndpoints, listSendableCommands, updateToSent } from './sending-store.ts'
import {
  type CommandRow,
  expireOpenCommands,
  findCommandOrAttempt,
  finishCommand,
  isCommand,
  listOrgsWithExpired,
  updateToAcknowledged,
} from './store.ts'
import { commandEventDraft, commandMessage, commandView } from './view.ts'

/**
 * Returns the commands to send to a device, the oldest first. They are marked as sent beforehand, so a crash may repeat a
 * command but never loses one.
 */
export async function takePendingCommands(
  { db, clock, feed, settings, reconnects }: Services,
  deviceConnection: DeviceConnection,
  uploadUrl: (commandId: string) => string,
): Promise<DeviceCommandMessage[]> {
  const { nodeId: node, number: connection } = deviceConnection
  const { org, id } = deviceConnection.device
  const now = clock.now()
  const orgDb = db.forOrg(org.key)
  const rows = await listSendableCommands(orgDb, { endpoint: id, now, connection, overdue: now - resendAfterMs })
  if (rows.length === 0) return []
  const sent = await orgDb.telemetry(async (tx) => {
    const times = { now, idleMs: settings.idleMs, presence: reconnects.current }
    const held = await holdBackAttempts(tx, rows, deviceConnection, times)
    const ids = rows.map((row) => row.id).filter((rowId) => !held.has(rowId))
    return ids.length === 0 ? [] : updateToSent(tx, { ids, at: now, endpoint: id, node, connection })
  })
  const isNew = (row: CommandRow) => row.state === 'SENT' && row.updated_at === now && isCommand(row)
  feed.forOrg(org.key).publish(sent.filter(isNew).map(draftOf))
  // A command that was cancelled since the query is not sent, and none if the device has connected elsewhere since.
  const sendable = new Set(sent.map((row) => row.id))
  return rows.filter((row) => sendable.has(row.id)).map((row) => commandMessage(row, uploadUrl))
}

/** Stores the report of a device. A report that is late, repeated or about a command of another device changes nothing. */
export async function storeCommandReport(services: Services, connection: DeviceConnection, report: CommandReport) {
  const { db, clock, feed } = services
  const { device, number } = connection
  const { id, error } = report
  const org = device.org.key
  const orgDb = db.forOrg(org)
  const command = await findCommandOrAttempt(orgDb, { id })
  const changed = await orgDb.telemetry(async (tx) => {
    if (!(await lockConnection(tx, connectionKey(connection)))) return 'replaced'
    if (command?.endpoint_id !== device.id) return undefined
    const isShown = command.type !== 'POWER' || showsPower(command, await findPower(tx, device.id))
    const state = isShown ? acceptedState(command, report.state, number) : unshownState(report.state)
    if (!isCommand(command)) return storeAttemptReport(tx, command, { state, error }, clock.now())
    if (state === 'ACKNOWLEDGED') return updateToAcknowledged(tx, { id, at: clock.now() })
    const finished = await finishCommand(tx, { id, state, error: error ?? null, at: clock.now() })
    if (finished) await queueFinishedCommands(tx, [commandView(finished)])
    return finished
  })
  if (changed === 'replaced') throw new ConnectionReplaced()
  if (changed) feed.forOrg(org).publish([draftOf(changed)])
}

const draftOf = (row: CommandRow) => commandEventDraft(commandView(row))

/** A device can report SUCCEEDED too early. Such a report counts as ACKNOWLEDGED. */
function acceptedState({ type, sent_connection }: CommandRow, state: CommandReport['state'], connection: number) {
  if (state !== 'SUCCEEDED') return state
  // A reboot has succeeded when the device is back over a later connection. [contract 5.4.operation]
  if (type === 'REBOOT') return sent_connection !== null && connection > sent_connection ? state : 'ACKNOWLEDGED'
  // The upload itself completes the collection of logs.
  return type === 'COLLECT_LOGS' ? 'ACKNOWLEDGED' : state
}

/** The status decides whether the power was switched, whatever the device says. [contract 8.power] */
const unshownState = (state: CommandReport['state']) => (state === 'SUCCEEDED' ? 'ACKNOWLEDGED' : state)

const findPower = async (on: TelemetryTx, id: string) =>
  (JSON.parse((await findStatus(on, { id }))?.status ?? '{}') as ReportedStatus).power

/** Expires commands after their deadline. It runs twice a second, and writes only if there is one. */
export async function expireCommands({ db, clock, feed }: Services): Promise<void> {
  const now = clock.now()
  for (const { org } of await listOrgsWithExpired(db.system, { now })) {
    const expired = await db.forOrg(org).telemetry(async (tx) => {
      const rows = (await expireOpenCommands(tx, { now })).filter(isCommand)
      await queueFinishedCommands(tx, rows.map(commandView))
      return rows
    })
    feed.forOrg(org).publish(expired.map(draftOf))
  }
}

/** Lists endpoints that are connected to this node and for which a command waits, even if the message about it was lost. */
export async function listEndpointsWithQueuedCommand({ db, node, clock }: Services): Promise<string[]> {
  if (!node) return []
  return (await listQueuedEndpoints(db.system, { node: node.id, now: clock.now() })).map((row) => row.endpoint_id)
}

/** Lists endpoints that are connected to this node and have not acknowledged a command in time, so it is sent again. */
export async function listEndpointsWithOverdueCommand({ db, node, clock }: Services): Promise<string[]> {
  if (!node) return []
  const now = clock.now()
  const rows = await listOverdueEndpoints(db.system, { node: node.id, now, before: now - resendAfterMs })
  return rows.map((row) => row.endpoint_id)
}
