// Moves commands forward: sent, reported by their devices, or expired. These writes are not audited. [contract 5.4.audit]

import { type CommandReport, type DeviceCommandMessage, resendAfterMs } from '../../../contract/device/protocol.ts'
import type { Services } from '../../context/services.ts'
import { ConnectionReplaced, connectionKey, type DeviceConnection } from '../../devices/mqtt/handlers.ts'
import { lockConnection } from '../endpoints/store.ts'
import {
  type CommandRow,
  deleteOldCommandRows,
  expireOpenCommands,
  findCommand,
  finishCommand,
  hasExpiredCommand,
  hasOldCommand,
  listOverdueEndpoints,
  listQueuedEndpoints,
  listWaiting,
  updateToAcknowledged,
  updateToSent,
} from './store.ts'
import { commandEventDraft, commandMessage, commandView } from './view.ts'

/** Commands are deleted this long after they reached a final state. */
const retentionMs = 90 * 24 * 3600_000
const maxRowsPerDelete = 1000

/**
 * Returns the commands to send to a device, the oldest first. They are marked as sent beforehand, so a crash may repeat a
 * command but never loses one.
 */
export async function takePendingCommands(
  { db, clock, feed }: Services,
  { device: { org, id }, nodeId: node, number: connection }: DeviceConnection,
  uploadUrl: (commandId: string) => string,
): Promise<DeviceCommandMessage[]> {
  const now = clock.now()
  const orgDb = db.forOrg(org.key)
  const rows = await listWaiting(orgDb, { endpoint: id, now, connection, overdue: now - resendAfterMs })
  if (rows.length === 0) return []
  const ids = rows.map((row) => row.id)
  const sent = await orgDb.telemetry((tx) => updateToSent(tx, { ids, at: now, endpoint: id, node, connection }))
  const isNew = (row: CommandRow) => row.state === 'SENT' && row.updated_at === now
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
  const command = await findCommand(orgDb, id)
  const changed = await orgDb.telemetry(async (tx) => {
    if (!(await lockConnection(tx, connectionKey(connection)))) return 'replaced'
    if (command?.endpoint_id !== device.id) return undefined
    const state = acceptedState(command, report.state, number)
    return state === 'ACKNOWLEDGED'
      ? updateToAcknowledged(tx, { id, at: clock.now() })
      : finishCommand(tx, { id, state, error: error ?? null, at: clock.now() })
  })
  if (changed === 'replaced') throw new ConnectionReplaced()
  if (changed) feed.forOrg(org).publish([draftOf(changed)])
}

const draftOf = (row: CommandRow) => commandEventDraft(commandView(row))

/** A device may report SUCCEEDED too early. Such a report counts as ACKNOWLEDGED. */
function acceptedState({ type, sent_connection }: CommandRow, state: CommandReport['state'], connection: number) {
  if (state !== 'SUCCEEDED') return state
  // A reboot has succeeded when the device is back over a later connection. [contract 5.4.operation]
  if (type === 'REBOOT') return sent_connection !== null && connection > sent_connection ? state : 'ACKNOWLEDGED'
  // The upload itself completes the collection of logs.
  return type === 'COLLECT_LOGS' ? 'ACKNOWLEDGED' : state
}

/** Expires commands after their deadline. It runs twice a second, and writes only if there is one. */
export async function expireCommands({ db, clock, feed }: Services): Promise<void> {
  const now = clock.now()
  if (!(await hasExpiredCommand(db.system, { now }))) return
  const expired = await db.systemTransaction((tx) => expireOpenCommands(tx, { now }))
  for (const row of expired) feed.forOrg(row.org).publish([draftOf(row)])
}

/** Deletes old commands, in steps that let other writers run in between. It runs every hour. */
export async function deleteOldCommands({ db, clock }: Services): Promise<void> {
  const before = clock.now() - retentionMs
  while (await hasOldCommand(db.system, { before })) {
    await db.systemTransaction((tx) => deleteOldCommandRows(tx, { before, limit: maxRowsPerDelete }))
  }
}

/** Lists endpoints that are connected to this node and for which a command waits, also if the message about it was lost. */
export async function listQueued({ db, node, clock }: Services): Promise<string[]> {
  if (!node) return []
  return (await listQueuedEndpoints(db.system, { node: node.id, now: clock.now() })).map((row) => row.endpoint_id)
}

/** Lists endpoints that are connected to this node and have not acknowledged a command in time, so that it is sent again. */
export async function listUnacknowledged({ db, node, clock }: Services): Promise<string[]> {
  if (!node) return []
  const now = clock.now()
  const rows = await listOverdueEndpoints(db.system, { node: node.id, now, before: now - resendAfterMs })
  return rows.map((row) => row.endpoint_id)
}
