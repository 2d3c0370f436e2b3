// Cancels the reboots of groups that wait, in the transaction of the caller. [contract 12.when]
import type { Tx } from '../../../db/handles.ts'
import { queueFinishedCommands } from '../../channels/endpoint-messages.ts'
import { type EndpointSummary, listEndpointsById } from '../../endpoints/store.ts'
import { commandEventDraft, commandView } from '../view.ts'
import { cancelDeferred, deleteAttemptsOf, listCancellable } from './deferred-store.ts'

/** Leaves out those that are on their way to the device, and those that the caller does not see. Returns the endpoints of the others. */
export async function cancelGroups(tx: Tx, groups: readonly string[], at: number): Promise<EndpointSummary[]> {
  if (groups.length === 0) return []
  const waiting = await listCancellable(tx, { groups })
  const endpoints = await listEndpointsById(
    tx,
    waiting.map(({ endpoint_id }) => endpoint_id),
  )
  const visible = new Set(endpoints.map(({ id }) => id))
  const ids = waiting.filter(({ endpoint_id }) => visible.has(endpoint_id)).map(({ id }) => id)
  if (ids.length === 0) return []
  for (const id of ids) await deleteAttemptsOf(tx, { id })
  const commands = (await cancelDeferred(tx, { ids, at })).map(commandView)
  tx.drafts.push(...commands.map((command) => commandEventDraft(command)))
  await queueFinishedCommands(tx, commands)
  return endpoints.filter(({ id }) => commands.some(({ endpointId }) => endpointId === id))
}
