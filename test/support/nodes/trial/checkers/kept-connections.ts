// Checks that a restart or failover of PostgreSQL disconnects no device. [contract 8.outage]
import { type ConnectionRecord, type FaultRecord, postgresFaults } from '../histories.ts'
import { faultsOf, mayEndConnections } from './fault-effects.ts'

/** A node that does not survive an outage disconnects its devices at most this long after it. */
const noticedWithinMs = 2000

/** Returns a sentence for each connection that a node ended during an outage of PostgreSQL, or just after it, without another fault. */
export function checkKeptConnections(
  connections: readonly ConnectionRecord[],
  faults: readonly FaultRecord[],
): string[] {
  const outages = faults.filter(({ kind }) => postgresFaults.includes(kind))
  return connections.flatMap(({ endpointId, node, connackAt, endedAt, isEndedByDevice }) => {
    if (isEndedByDevice) return []
    const outage = outages.find(({ from, to }) => endedAt >= from && endedAt <= to + noticedWithinMs)
    if (!outage) return []
    const others = faultsOf(faults, node, connackAt, endedAt)
    if (others.some((fault) => mayEndConnections(fault, endedAt, faults))) return []
    return [
      `${node} disconnected ${endpointId} ${Math.round(endedAt - outage.from)} ms after the beginning of ${outage.kind}.`,
    ]
  })
}
