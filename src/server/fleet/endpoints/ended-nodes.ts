// Clears the endpoints that point at nodes that have ended, stores how long their devices have time to come back, and deletes the rows of these nodes.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { hourMs, minuteMs } from '../../../contract/durations.ts'
import type { Services } from '../../context/services.ts'
import type { TelemetryTx } from '../../db/handles.ts'
import type { PresenceTimes } from '../../nodes/presence-sql.ts'
import { deleteEndedNode, findFirstStart, listEndedNodes } from '../../nodes/store.ts'
import { hiddenBeforeEndMs } from '../connections/availability.ts'
import { insertSpansOfEndedNode, updateUnknownUntil } from '../connections/store.ts'
import {
  findOrgOfNode,
  listInterrupted,
  lockEndpointsOfNode,
  updateInterrupted,
  updateLeftWithGateways,
  updateNodeCleared,
} from './device-store.ts'
import { queuePresenceMessages } from './endpoint-messages.ts'
import { publishDevicesOf } from './presence.ts'

/** SQLite holds the event loop for a few milliseconds with this many rows. */
const rowsPerStep = 250

/** Devices that come back within this time were hardly away: they connect to another node, or to the same one after its restart. */
const returnTimeMs = minuteMs

/** The row of a node is kept this long after its end, so it can still be found. */
const keepNodeMs = 24 * hourMs
/**
 * The row is also kept this long after a start, however long the stop was: a restart is judged by it after `--settle`, which is at most
 * 4 hours. [contract 10.start]
 */
const keepAfterStartMs = 6 * hourMs

/** Runs in steps that let other writers run in between. */
export async function clearEndedNodes(services: Services, signal: AbortSignal): Promise<void> {
  const { db, clock, reconnects } = services
  const now = clock.now()
  await storeNewTimes(services, signal)
  // Devices could not come back while no node was up.
  const { started_at: reachableSince = now } = (await findFirstStart(db.system)) ?? {}
  for (const { id: node, ended_at } of await listEndedNodes(db.system)) {
    const endedAt = ended_at ?? 0
    if (Math.max(endedAt, reachableSince) > now - returnTimeMs) continue
    for (let org = await findOrgOfNode(db.system, { node }); org; org = await findOrgOfNode(db.system, { node })) {
      if (signal.aborted) return
      const { count, gateways } = await db
        .forOrg(org.org)
        .telemetry((on) => clearSome(on, node, endedAt, reconnects.current))
      // The remaining rows are locked, because their devices are connecting. The next run tries them again.
      if (count === 0) break
      for (const gateway of gateways) await publishDevicesOf(services, org.org, gateway)
      await nextTurn()
    }
    if (endedAt < now - keepNodeMs && reachableSince < now - keepAfterStartMs) {
      await db.systemTransaction((on) => deleteEndedNode(on, { id: node }))
    }
  }
}

/** A stop during the grace period restarts the period. The new end is stored, because the next start of the service does not know of this start. */
async function storeNewTimes({ db, reconnects }: Services, signal: AbortSignal): Promise<void> {
  const { lastEnd, settledAt } = reconnects.current
  while (!signal.aborted) {
    const rows = await listInterrupted(db.system, { lastEnd, settledAt, limit: rowsPerStep })
    for (const [org, endpoints] of Map.groupBy(rows, (row) => row.org)) {
      await db.forOrg(org).telemetry(async (on) => {
        await updateUnknownUntil(on, { endpoints: endpoints.map(({ number }) => number), lastEnd, settledAt })
        await updateInterrupted(on, { ids: endpoints.map(({ id }) => id), settledAt })
      })
    }
    if (rows.length < rowsPerStep) return
    await nextTurn()
  }
}

/**
 * Returns how many endpoints there were, and which of them are gateways. Their answers stay the same, because the end of the node has
 * disconnected them already. Devices that left just before their gateway have another `since` from now on.
 */
async function clearSome(on: TelemetryTx, node: number, endedAt: number, times: PresenceTimes) {
  const rows = await lockEndpointsOfNode(on, { node, limit: rowsPerStep })
  if (rows.length === 0) return { count: 0, gateways: [] }
  const ids = rows.map(({ id }) => id)
  await insertSpansOfEndedNode(on, { ...times, ids })
  await updateNodeCleared(on, { ...times, ids, endedAt })
  const gateways = rows.filter(({ is_gateway }) => is_gateway === 1).map(({ id }) => id)
  await updateLeftWithGateways(on, gateways, endedAt - hiddenBeforeEndMs)
  await queuePresenceMessages(on, ids, { type: 'endpoint.disconnected', at: endedAt, why: 'SERVER_ENDED' })
  return { count: rows.length, gateways }
}
