// Inserts reboots that wait, for endpoints that restart together. [contract 12.when]
import type { Tx } from '../../../db/handles.ts'
import type { DescribedDevice } from '../../endpoints/device-actions.ts'
import type { EndpointSummary } from '../../endpoints/store.ts'
import { newCommandRows } from '../new-commands.ts'
import { insertCommands } from '../store.ts'
import { commandEventDraft, newCommandViews } from '../view.ts'

interface Deferral {
  readonly time: 'idle' | 'window'
  readonly at: number
  /** The time at which the reboots expire. */
  readonly deadline: number
}

/**
 * Inserts a reboot for each endpoint. They are a group: they wait until the rooms of all are idle (and in their windows) and the first
 * endpoint is connected; the others are skipped if they are not. A task sends them, so nothing needs to be woken.
 */
export async function insertDeferredReboots(
  tx: Tx,
  endpoints: readonly (DescribedDevice & Pick<EndpointSummary, 'id' | 'connected'>)[],
  { time, at, deadline }: Deferral,
) {
  const rows = newCommandRows('REBOOT', endpoints)
  const batch = {
    type: 'REBOOT',
    payload: '{}',
    at,
    deadline,
    rebootTime: time,
    groupId: rows[0]?.id ?? null,
    // The task corrects this within a second, when it has read the rooms.
    waitsFor: endpoints[0]?.connected ? time : 'connection',
  } as const
  await insertCommands(tx, batch, rows)
  const commands = newCommandViews(batch, rows)
  tx.drafts.push(...commands.map((command) => commandEventDraft(command)))
  return commands
}
