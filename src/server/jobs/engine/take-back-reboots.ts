// Cancels the reboots of a job that still wait for empty rooms, when the job is paused or stopped. [contract 12.states]
import { jobActions } from '../../../contract/jobs/action-table.ts'
import type { TelemetryTx, Tx } from '../../db/handles.ts'
import type { EventDraft } from '../../events/draft.ts'
import { cancelReboots, holdUnsentGroups } from '../../fleet/commands/deferred/cancel-groups.ts'
import { actionOfJob, type JobRow } from '../rows.ts'
import { listSentReboots } from '../units/unit-store.ts'
import { updateJobEndpointState, updateUnitState } from './progress-store.ts'

/**
 * Lets units wait again of which no device has got its reboot, because they have not begun. A unit of which one device restarts goes on, so
 * that no room stays half restarted; so does one that shares a person's reboot. Returns the events to publish after the commit.
 */
export async function takeBackReboots(tx: Tx | TelemetryTx, job: JobRow, at: number): Promise<EventDraft[]> {
  if (!jobActions[actionOfJob(job).type].isDeferred) return []
  const sent = await listSentReboots(tx, { job: job.id })
  const own = sent.flatMap(({ group_id, own }) => (group_id !== null && own === 1 ? group_id : []))
  const unsent = await holdUnsentGroups(tx, [...new Set(own)])
  const cancelled: string[] = []
  for (const [number, endpoints] of Map.groupBy(sent, ({ unit }) => unit)) {
    const groups = new Set(endpoints.map(({ group_id }) => group_id ?? ''))
    if (![...groups].every((group) => unsent.has(group))) continue
    cancelled.push(...[...groups].flatMap((group) => unsent.get(group) ?? []))
    for (const { endpoint_id: id } of endpoints) {
      await updateJobEndpointState(tx, { job: job.id, id, from: 'SENT', state: 'PENDING', error: null })
    }
    const reason = endpoints.find(({ waits_for }) => waits_for !== null)?.waits_for ?? 'idle'
    const ends = { soakUntil: null, endedAt: null }
    await updateUnitState(tx, { job: job.id, number, from: 'RUNNING', to: 'WAITING', reason, ...ends })
  }
  return cancelled.length === 0 ? [] : (await cancelReboots(tx, cancelled, at)).drafts
}
