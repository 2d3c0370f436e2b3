// Checks the presence that nodes report against the devices' own logs of their connections.
import type { ConnectionRecord, FaultRecord, PresenceRead } from '../histories.ts'
import { aftermathMs, faultsOf, mayEndConnections, silencingFaults } from './fault-effects.ts'

/** How long an ended connection may be reported as connected, by what may have ended it. */
export const allowedDelayMs = { kill: 6000, pause: 16_000, otherwise: 1000 } as const

/** A device may notice the end of its connection this long after its node. */
const settleMs = 2000

/** Returns a sentence for each read that contradicts the devices. `slackMs` allows for a busy machine. */
export function checkPresence(
  connections: readonly ConnectionRecord[],
  reads: readonly PresenceRead[],
  faults: readonly FaultRecord[],
  slackMs = 0,
): string[] {
  const connectionsOf = Map.groupBy(connections, ({ endpointId }) => endpointId)
  return reads.flatMap((read) => {
    const own = connectionsOf.get(read.endpointId) ?? []
    const problem = read.isConnected ? falseConnected(own, read, faults, slackMs) : falseOffline(own, read, faults)
    return problem ? [problem] : []
  })
}

function falseConnected(
  connections: readonly ConnectionRecord[],
  read: PresenceRead,
  faults: readonly FaultRecord[],
  slackMs: number,
): string | undefined {
  // A connection may be stored before its CONNACK has arrived at the device.
  const possible = connections.filter(({ connackAt }) => connackAt <= read.endedAt + settleMs)
  let latestEnd = Number.NEGATIVE_INFINITY
  for (const { node, connackAt, endedAt } of possible) {
    const from = Math.max(connackAt, endedAt - aftermathMs)
    const delay = allowedDelay(faultsOf(faults, node, from, read.invokedAt))
    if (endedAt + delay + slackMs >= read.invokedAt) return undefined
    latestEnd = Math.max(latestEnd, endedAt)
  }
  const since = Number.isFinite(latestEnd)
    ? `${Math.round(read.invokedAt - latestEnd)} ms after its end`
    : 'before it ever was'
  return `${read.node} reports ${read.endpointId} as connected ${since}.`
}

function falseOffline(
  connections: readonly ConnectionRecord[],
  read: PresenceRead,
  faults: readonly FaultRecord[],
): string | undefined {
  const open = connections.find(
    ({ node, connackAt, endedAt }) =>
      connackAt <= read.invokedAt &&
      endedAt >= read.endedAt &&
      !faultsOf(faults, node, connackAt, read.endedAt + settleMs).some((fault) =>
        mayEndConnections(fault, read.invokedAt, faults),
      ),
  )
  if (!open) return undefined
  return `${read.node} reports ${read.endpointId} as offline ${Math.round(read.invokedAt - open.connackAt)} ms after its CONNACK at ${open.node}.`
}

function allowedDelay(faults: readonly FaultRecord[]): number {
  const silences = faults.filter(({ kind }) => silencingFaults.includes(kind))
  // While PostgreSQL is away nothing can be stored, and no node is declared dead for 15 s after it.
  const outages = silences.filter(({ node }) => node === undefined).reduce((sum, { from, to }) => sum + to - from, 0)
  if (silences.length > 0) return allowedDelayMs.pause + outages
  return faults.some(({ kind }) => kind === 'kill') ? allowedDelayMs.kill : allowedDelayMs.otherwise
}
