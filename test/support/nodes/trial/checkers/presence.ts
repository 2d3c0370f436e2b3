// Checks the presence that nodes report against the devices' own logs of their connections.
import type { ConnectionAttempt, ConnectionRecord, DeviceHistory, FaultRecord, PresenceRead } from '../histories.ts'
import { faultsOf, maxDisconnectDelayMs, mayEndConnections, silencingFaults } from './fault-effects.ts'

/** How long an ended connection may be reported as connected, by what may have ended it. */
export const allowedDelayMs = { kill: 6000, pause: 16_000, otherwise: 1000 } as const

/** A device may notice the end of its connection this long after its node. */
const settleMs = 2000

/** Returns a sentence for each read that contradicts the devices. `slackMs` allows for a busy machine. */
export function checkPresence(
  { connections, attempts }: Pick<DeviceHistory, 'connections' | 'attempts'>,
  reads: readonly PresenceRead[],
  faults: readonly FaultRecord[],
  slackMs = 0,
): string[] {
  const connectionsOf = Map.groupBy(connections, ({ endpointId }) => endpointId)
  const attemptsOf = Map.groupBy(attempts, ({ endpointId }) => endpointId)
  return reads.flatMap((read) => {
    const problem = read.isConnected
      ? falseConnected(attemptsOf.get(read.endpointId) ?? [], read, faults, slackMs)
      : falseOffline(connectionsOf.get(read.endpointId) ?? [], read, faults)
    return problem ? [problem] : []
  })
}

function falseConnected(
  attempts: readonly ConnectionAttempt[],
  read: PresenceRead,
  faults: readonly FaultRecord[],
  slackMs: number,
): string | undefined {
  let last: ConnectionAttempt | undefined
  for (const attempt of attempts) {
    const { node, begunAt, endedAt } = attempt
    if (begunAt > read.endedAt) continue
    const from = Math.max(begunAt, endedAt - maxDisconnectDelayMs)
    const delay = allowedDelay(faultsOf(faults, node, from, read.invokedAt))
    if (endedAt + delay + slackMs >= read.invokedAt) return undefined
    if (!last || endedAt > last.endedAt) last = attempt
  }
  const since = last
    ? `${Math.round(read.invokedAt - last.endedAt)} ms after its end at ${last.node}`
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
