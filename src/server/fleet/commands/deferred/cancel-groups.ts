// Cancels the reboots of groups that wait, in the transaction of the caller. [contract 12.when]
import type { TelemetryTx, Tx } from '../../../db/handles.ts'
import type { EventDraft } from '../../../events/draft.ts'
import { queueFinishedCommands } from '../../endpoints/endpoint-messages.ts'
import { type EndpointSummary, listEndpointsById } from '../../endpoints/store.ts'
import { commandEventDraft, commandView } from '../view.ts'
import { cancelDeferred, deleteAttemptsOf, hasOpenAttempt, listCancellable, lockGroups } from './deferred-store.ts'

/** Leaves out those that are on their way to the device, and those that the caller does not see. Returns the endpoints of the others. */
export async function cancelGroups(tx: Tx, groups: readonly string[], at: number): Promise<EndpointSummary[]> {
  if (groups.length === 0) return []
  const waiting = await listCancellable(tx, { groups })
  const endpoints = await listEndpointsById(tx, { ids: waiting.map(({ endpoint_id }) => endpoint_id) })
  const visible = new Set(endpoints.map(({ id }) => id))
  const ids = waiting.filter(({ endpoint_id }) => visible.has(endpoint_id)).map(({ id }) => id)
  if (ids.length === 0) return []
  for (const id of ids) await deleteAttemptsOf(tx, { id })
  const { commands, drafts } = await cancelReboots(tx, ids, at)
  tx.drafts.push(...drafts)
  return endpoints.filter(({ id }) => commands.some(({ endpointId }) => endpointId === id))
}

/** Cancels reboots that wait, and returns them with the events to publish after the commit. */
export async function cancelReboots(tx: Tx | TelemetryTx, ids: readonly string[], at: number) {
  const commands = (await cancelDeferred(tx, { ids, at })).map(commandView)
  await queueFinishedCommands(tx, commands)
  const drafts: EventDraft[] = commands.map((command) => commandEventDraft(command))
  return { commands, drafts }
}

/** A device was sent one of the reboots of a group, or a person has cancelled it. */
const startedStates: ReadonlySet<string> = new Set(['SENT', 'ACKNOWLEDGED', 'SUCCEEDED', 'FAILED', 'CANCELLED'])

/**
 * Finds the groups of which no device was sent a reboot, and deletes their unsent attempts. Returns the reboots of each. Until the end
 * of the transaction none of them is sent.
 */
export async function holdUnsentGroups(
  tx: Tx | TelemetryTx,
  groups: readonly string[],
): Promise<Map<string, readonly string[]>> {
  if (groups.length === 0) return new Map()
  const unsent = new Map<string, readonly string[]>()
  const byGroup = Map.groupBy(await lockGroups(tx, { groups }), ({ group_id }) => group_id ?? '')
  for (const [group, reboots] of byGroup) {
    let isUnsent = reboots.every(({ state }) => !startedStates.has(state))
    for (const { id, state } of isUnsent ? reboots : []) {
      if (state !== 'QUEUED') continue
      await deleteAttemptsOf(tx, { id })
      // An attempt that could not be deleted is on its way. The next check of the group makes the deleted ones again.
      isUnsent &&= !(await hasOpenAttempt(tx, { id }))
    }
    if (isUnsent) {
      unsent.set(
        group,
        reboots.map(({ id }) => id),
      )
    }
  }
  return unsent
}
