// Clears the endpoints that point at nodes that have ended, and deletes the rows of these nodes.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { hourMs } from '../../../contract/durations.ts'
import type { Services } from '../../context/services.ts'
import { deleteEndedNode, listEndedNodes } from '../../nodes/store.ts'
import { clearEndedNode, hasEndpointOfNode } from './device-store.ts'

/** SQLite holds the event loop for a few milliseconds with this many rows. */
const rowsPerStep = 250

/** The row of a node is kept this long after its end, so that it can still be looked up. */
const keepNodeMs = 24 * hourMs

/** Runs in steps that let other writers run in between. Endpoints show the same before and after. */
export async function clearEndedNodes({ db, clock }: Services, signal: AbortSignal): Promise<void> {
  for (const { id: node, ended_at } of await listEndedNodes(db.system)) {
    const endedAt = ended_at ?? 0
    while (await hasEndpointOfNode(db.system, { node })) {
      if (signal.aborted) return
      await db.systemTransaction((on) => clearEndedNode(on, { node, endedAt, limit: rowsPerStep }))
      await nextTurn()
    }
    if (endedAt < clock.now() - keepNodeMs) await db.systemTransaction((on) => deleteEndedNode(on, { id: node }))
  }
}
