// Checks the presence that nodes report against the devices' own logs of their connections.
import {
  type ConnectionRecord,
  type FaultKind,
  type FaultRecord,
  type PresenceRead,
  postgresFaults,
} from '../histories.ts'

/** How long an ended connection may be reported as connected, by what may have ended it. */
export const allowedDelayMs = { kill: 6000, pause: 16_000, otherwise: 1000 } as const

/**
 * A node that is frozen or cut off is declared dead after 15 s, or after 5 s if only its control session is cut, and is fenced when
 * it comes back.
 */
const silencingFaultsOfNode: readonly FaultKind[] = [
  'pause',
  'cutMessages',
  'cutDatabase',
  'swallowDatabase',
  'delayDatabase',
]
const silencingFaults: readonly FaultKind[] = [...silencingFaultsOfNode, ...postgresFaults]
/** Faults of PostgreSQL end no connection, so they do not explain that a connected device is reported as offline. */
const endingFaults: readonly FaultKind[] = ['kill', 'stop', ...silencingFaultsOfNode]
/** A device may notice the end of its connection this long after its node. */
const settleMs = 2000
/** A node knows so long after a fault at the latest that it was declared dead, and has disconnected its devices. */
const aftermathMs = 20_000

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
      !faultsOf(faults, node, connackAt, read.endedAt + settleMs).some((fault) => explainsOffline(fault, read, faults)),
  )
  if (!open) return undefined
  return `${read.node} reports ${read.endpointId} as offline ${Math.round(read.invokedAt - open.connackAt)} ms after its CONNACK at ${open.node}.`
}

/** Whether a fault at the node of an open connection can still be the reason why its device is reported as offline. */
function explainsOffline({ kind, from, to }: FaultRecord, read: PresenceRead, faults: readonly FaultRecord[]): boolean {
  if (!endingFaults.includes(kind)) return false
  // A node cannot learn that it was declared dead while PostgreSQL is away.
  const outages = faults.filter((fault) => postgresFaults.includes(fault.kind) && fault.to >= from)
  const outageMs = outages.reduce((sum, fault) => sum + Math.max(0, Math.min(fault.to, read.endedAt) - fault.from), 0)
  return to + aftermathMs + outageMs >= read.invokedAt
}

/** The faults that concern a node and overlap with a time. */
const faultsOf = (faults: readonly FaultRecord[], node: string, from: number, to: number) =>
  faults.filter((fault) => (fault.node === undefined || fault.node === node) && fault.from <= to && fault.to >= from)

function allowedDelay(faults: readonly FaultRecord[]): number {
  const silences = faults.filter(({ kind }) => silencingFaults.includes(kind))
  // While PostgreSQL is away nothing can be stored, and no node is declared dead for 15 s after it.
  const outages = silences.filter(({ node }) => node === undefined).reduce((sum, { from, to }) => sum + to - from, 0)
  if (silences.length > 0) return allowedDelayMs.pause + outages
  return faults.some(({ kind }) => kind === 'kill') ? allowedDelayMs.kill : allowedDelayMs.otherwise
}
