// Moves commands forward: sent, reported by their devices, or expired. These writes are not audited. [contract 5.4.audit]

import { type CommandReport, type DeviceCommandMessage, resendAfterMs } from '../../../contract/device/protocol.ts'
import type { Services } from '../../context/services.ts'
import type { DeviceConnection } from '../../devices/mqtt/handlers.ts'
import {
  type CommandRow,
  deleteOldCommandRows,
  expireOpenCommands,
  findCommand,
  finishCommand,
  hasExpiredCommand,
  hasOldCommand,
  listOverdueEndpoints,
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
  { device: { org, id }, since }: DeviceConnection,
  uploadUrl: (commandId: string) => string,
): Promise<DeviceCommandMessage[]> {
  const now = clock.now()
  const orgDb = db.forOrg(org.key)
  const rows = await listWaiting(orgDb, { endpoint: id, now, since, overdue: now - resendAfterMs })
  if (rows.length === 0) return []
  const ids = rows.map((row) => row.id)
  const sent = await orgDb.telemetry((tx) => updateToSent(tx, { ids, at: now }))
  const isNew = (row: CommandRow) => row.state === 'SENT' && row.updated_at === now
  feed.forOrg(org.key).publish(sent.filter(isNew).map(draftOf))
  // A command that was cancelled since the query is not sent.
  const sendable = new Set(sent.map((row) => row.id))
  return rows.filter((row) => sendable.has(row.id)).map((row) => commandMessage(row, uploadUrl))
}

/** Stores the report of a device. A report that is late, repeated or about a command of another device changes nothing. */
export async function storeCommandReport(
  services: Services,
  { device, since }: DeviceConnection,
  report: CommandReport,
) {
  const { db, clock, feed } = services
  const { id, error } = report
  const org = device.org.key
  const orgDb = db.forOrg(org)
  const command = await findCommand(orgDb, id)
  if (command?.endpoint_id !== device.id) return
  const state = acceptedState(command, report.state, since)
  const changed = await orgDb.telemetry((tx) =>
    state === 'ACKNOWLEDGED'
      ? updateToAcknowledged(tx, { id, at: clock.now() })
      : finishCommand(tx, { id, state, error: error ?? null, at: clock.now() }),
  )
  if (changed) feed.forOrg(org).publish([draftOf(changed)])
}

const draftOf = (row: CommandRow) => commandEventDraft(commandView(row))

/** A device may report SUCCEEDED too early. Such a report counts as ACKNOWLEDGED. */
function acceptedState({ type, sent_at }: CommandRow, state: CommandReport['state'], since: number) {
  if (state !== 'SUCCEEDED') return state
  // A reboot has succeeded when the device has connected again. [contract 5.4.operation]
  if (type === 'REBOOT') return sent_at !== null && since > sent_at ? state : 'ACKNOWLEDGED'
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

/** Lists endpoints that have not acknowledged a command in time, so that it is sent again. */
export async function listUnacknowledged({ db, clock }: Services): Promise<string[]> {
  const now = clock.now()
  return (await listOverdueEndpoints(db.system, { now, before: now - resendAfterMs })).map((row) => row.endpoint_id)
}
