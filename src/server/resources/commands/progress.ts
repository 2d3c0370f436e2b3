// How far operations are: sent, reported by their devices, or expired. Not audited. [contract 5.4.audit]

import { type CommandReport, type DeviceCommandMessage, resendAfterMs } from '../../../contract/device.ts'
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

/** Final operations are kept for so long. */
const remembered = 90 * 24 * 3600_000
const deletedAtOnce = 1000

/** What waits for a device, the oldest first. It counts as sent before it is: a crash sends it twice, never not at all. */
export async function takePendingCommands(
  { db, clock, feed }: Services,
  { device: { org, id }, since }: DeviceConnection,
  uploadUrl: (operationId: string) => string,
): Promise<DeviceCommandMessage[]> {
  const now = clock.now()
  const orgDb = db.forOrg(org.key)
  const rows = await listWaiting(orgDb, { endpoint: id, now, since, overdue: now - resendAfterMs })
  if (rows.length === 0) return []
  const ids = rows.map((row) => row.id)
  const sent = await orgDb.telemetry((tx) => updateToSent(tx, { ids, at: now }))
  const isNew = (row: CommandRow) => row.state === 'SENT' && row.updated_at === now
  feed.forOrg(org.key).publish(sent.filter(isNew).map(draftOf))
  // Somebody may have cancelled one meanwhile.
  const sendable = new Set(sent.map((row) => row.id))
  return rows.filter((row) => sendable.has(row.id)).map((row) => commandMessage(row, uploadUrl))
}

/** What a device says about something that it was asked. What comes late, twice or about others changes nothing. */
export async function storeCommandReport(
  services: Services,
  { device, since }: DeviceConnection,
  report: CommandReport,
) {
  const { db, clock, feed } = services
  const { id, error } = report
  const org = device.org.key
  const orgDb = db.forOrg(org)
  const operation = await findCommand(orgDb, id)
  if (operation?.endpoint_id !== device.id) return
  const state = believed(operation, report.state, since)
  const changed = await orgDb.telemetry((tx) =>
    state === 'ACKNOWLEDGED'
      ? updateToAcknowledged(tx, { id, at: clock.now() })
      : finishCommand(tx, { id, state, error: error ?? null, at: clock.now() }),
  )
  if (changed) feed.forOrg(org).publish([draftOf(changed)])
}

const draftOf = (row: CommandRow) => commandEventDraft(commandView(row))

/** Some things a device cannot know when it says them. */
function believed({ type, sent_at }: CommandRow, state: CommandReport['state'], since: number) {
  if (state !== 'SUCCEEDED') return state
  // A device has rebooted when it has come back. [contract 5.4.operation]
  if (type === 'REBOOT') return sent_at !== null && since > sent_at ? state : 'ACKNOWLEDGED'
  // Logs are there when they were uploaded.
  return type === 'COLLECT_LOGS' ? 'ACKNOWLEDGED' : state
}

/** Ends what passed its deadline. To be called twice a second: nothing is written unless something did. */
export async function expireCommands({ db, clock, feed }: Services): Promise<void> {
  const now = clock.now()
  if (!(await hasExpiredCommand(db.system, { now }))) return
  const expired = await db.systemTransaction((tx) => expireOpenCommands(tx, { now }))
  for (const row of expired) feed.forOrg(row.org).publish([draftOf(row)])
}

/** Forgets what ended long ago, in steps that let others write in between. To be called every hour. */
export async function deleteOldCommands({ db, clock }: Services): Promise<void> {
  const before = clock.now() - remembered
  while (await hasOldCommand(db.system, { before })) {
    await db.systemTransaction((tx) => deleteOldCommandRows(tx, { before, limit: deletedAtOnce }))
  }
}

/** Endpoints that have said nothing for long about what they were told: it is time to tell them again. */
export async function listUnacknowledged({ db, clock }: Services): Promise<string[]> {
  const now = clock.now()
  return (await listOverdueEndpoints(db.system, { now, before: now - resendAfterMs })).map((row) => row.endpoint_id)
}
