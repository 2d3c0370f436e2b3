// The effects of faults on connections, which several checkers allow for.
import { type FaultKind, type FaultRecord, postgresFaults } from '../histories.ts'

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
export const silencingFaults: readonly FaultKind[] = [...silencingFaultsOfNode, ...postgresFaults]
/** Faults of PostgreSQL end no connection, and a node is not declared dead because of them. */
const endingFaults: readonly FaultKind[] = ['kill', 'stop', ...silencingFaultsOfNode]
/** A node knows so long after a fault at the latest that it was declared dead, and has disconnected its devices. */
export const aftermathMs = 20_000

/** The faults that concern a node and overlap with a time. */
export const faultsOf = (faults: readonly FaultRecord[], node: string, from: number, to: number) =>
  faults.filter((fault) => (fault.node === undefined || fault.node === node) && fault.from <= to && fault.to >= from)

/** Whether a fault can be the reason why the connections to its node end, or count as ended, at a time after its beginning. */
export function mayEndConnections(
  { kind, from, to }: FaultRecord,
  at: number,
  faults: readonly FaultRecord[],
): boolean {
  if (!endingFaults.includes(kind)) return false
  // A node cannot learn that it was declared dead while PostgreSQL is away.
  const outages = faults.filter((fault) => postgresFaults.includes(fault.kind) && fault.to >= from)
  const outageMs = outages.reduce((sum, fault) => sum + Math.max(0, Math.min(fault.to, at) - fault.from), 0)
  return to + aftermathMs + outageMs >= at
}
