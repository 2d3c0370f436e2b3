// Checks that each acknowledged write is in the audit log exactly once, a refused one never, and one of unknown outcome at most once.
import type { CallRecord } from '../call-log.ts'

export interface AuditEntryRow {
  readonly seq: number
  readonly timestamp: number
  readonly requestId: string | null
}

const allowedCounts = { done: [1], refused: [0], unknown: [0, 1] } as const

/** `entries` is the whole log of the organisation in the order of its numbers. Returns a sentence for each mistake. */
export function checkAcknowledgedWrites(calls: readonly CallRecord[], entries: readonly AuditEntryRow[]): string[] {
  const counts = new Map<string, number>()
  for (const { requestId } of entries) if (requestId) counts.set(requestId, (counts.get(requestId) ?? 0) + 1)
  const problems: string[] = []
  for (const { requestId, method, path, outcome, node } of calls) {
    if (method === 'GET') continue
    const count = counts.get(requestId) ?? 0
    if (!(allowedCounts[outcome] as readonly number[]).includes(count)) {
      problems.push(
        `${method} ${path} at ${node} (${requestId}) was ${outcome}, and ${count} audit entries are about it.`,
      )
    }
  }
  for (const [i, { seq, timestamp }] of entries.entries()) {
    if (seq !== i + 1) {
      problems.push(`Audit entry ${i + 1} is missing: the next one has the number ${seq}.`)
      break
    }
    const before = entries[i - 1]
    if (before && timestamp < before.timestamp)
      problems.push(`The time of audit entry ${seq} is before that of ${before.seq}.`)
  }
  return problems
}
