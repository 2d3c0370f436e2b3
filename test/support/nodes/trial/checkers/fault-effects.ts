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
/** Restarts and failovers of PostgreSQL are left out: they end no connection, and no node is declared dead because of them. */
const endingFaults: readonly FaultKind[] = ['kill', 'stop', ...silencingFaultsOfNode]
/** At most this long after a fault a node has learnt that it was declared dead, and has disconnected its devices. */
export const maxDisconnectDelayMs = 20_000

/** The faults that concern a node and overlap with the time from `from` to `to`. */
export const faultsOf = (faults: readonly FaultRecord[], node: string, from: number, to: number) =>
  faults.filter((fault) => (fault.node === undefined || fault.node === node) && fault.from <= to && fault.to >= from)

/** Returns true if the fault can be why connections to its node had ended, or counted as ended, at the time `at`. */
export function mayEndConnections(
  { kind, from, to }: FaultRecord,
  at: number,
  faults: readonly FaultRecord[],
): boolean {
  if (!endingFaults.includes(kind)) return false
  // A node cannot learn that it was declared dead while PostgreSQL is away.
  const outages = faults.filter((fault) => postgresFaults.includes(fault.kind) && fault.to >= from)
  const outageMs = outages.reduce((sum, fault) => sum + Math.max(0, Math.min(fault.to, at) - fault.from), 0)
  return to + maxDisconnectDelayMs + outageMs >= at
}
