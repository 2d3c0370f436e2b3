// Checks that every request to a running node is answered in time, whatever its database does.
import type { CallRecord } from '../call-log.ts'
import type { FaultRecord } from '../histories.ts'

export const answeredWithinMs = 12_000

/** A node that is killed, stopped or paused answers nothing. */
export function checkAnswerTimes(
  calls: readonly CallRecord[],
  faults: readonly FaultRecord[],
  withinMs = answeredWithinMs,
): string[] {
  const silent = faults.filter(({ kind }) => kind === 'kill' || kind === 'stop' || kind === 'pause')
  return calls
    .filter(({ node, invokedAt, endedAt, status }) => {
      const wasUp = silent.every((fault) => fault.node !== node || fault.to < invokedAt || fault.from > endedAt)
      return wasUp && (status === undefined || endedAt - invokedAt > withinMs)
    })
    .map(({ method, path, node, invokedAt, endedAt, status }) => {
      const outcome = status === undefined ? 'got no answer' : 'was answered'
      return `${method} ${path} at ${node} ${outcome} after ${Math.round(endedAt - invokedAt)} ms.`
    })
}
