// Gives other work its turn of the event loop while a report is made, and lets one report at a time be made on a node. [contract 16.queue]
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ConcurrencyLimiter } from '../core/concurrency-limiter.ts'
import { Failure } from '../core/failure.ts'
import type { TimeLimits } from '../core/time-limits.ts'

/** A report works for about this long in a turn of the event loop. A message of a device passes through several turns before its acknowledgement. */
const turnMs = 2

/** The turns of one report. */
export class Turns {
  #startedAt = performance.now()

  /** Must be called after each step that takes less than a millisecond or two. */
  async next(): Promise<void> {
    if (performance.now() - this.#startedAt < turnMs) return
    await nextTurn()
    this.#startedAt = performance.now()
  }
}

export class ReportQueue {
  readonly #limiter: ConcurrencyLimiter<'report'>

  constructor({ reportTurnMs }: TimeLimits) {
    const refusal = () =>
      new Failure('UNAVAILABLE', 'Other reports are being made. Ask again in a moment, or for fewer rooms or days.', {
        retryAfterSeconds: 10,
      })
    this.#limiter = new ConcurrencyLimiter({ maxRunning: 1, wait: { maxMs: reportTurnMs, refusal } })
  }

  run<T>(make: (turns: Turns) => Promise<T>): Promise<T> {
    return this.#limiter.run('report', () => make(new Turns()))
  }

  /** For the rest of an answer that has begun, which cannot be refused any longer. */
  runRest<T>(make: (turns: Turns) => Promise<T>): Promise<T> {
    return this.#limiter.runPatiently('report', () => make(new Turns()))
  }
}

/** Rows that are sorted in one step. */
const rowsPerSortStep = 200

/** Sorts a long list without a long turn of the event loop: short pieces first, which are then merged. */
export async function sortInTurns<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  turns: Turns,
): Promise<readonly T[]> {
  let runs: (readonly T[])[] = []
  for (let at = 0; at < items.length; at += rowsPerSortStep) {
    runs.push(items.slice(at, at + rowsPerSortStep).sort(compare))
    await turns.next()
  }
  while (runs.length > 1) {
    const merged: (readonly T[])[] = []
    for (let i = 0; i < runs.length; i += 2) {
      merged.push(await merge(runs[i] as readonly T[], runs[i + 1] ?? [], compare, turns))
    }
    runs = merged
  }
  return runs[0] ?? []
}

async function merge<T>(
  a: readonly T[],
  b: readonly T[],
  compare: (a: T, b: T) => number,
  turns: Turns,
): Promise<readonly T[]> {
  const merged: T[] = []
  for (let [i, j] = [0, 0]; i < a.length || j < b.length; ) {
    const isFirst = j >= b.length || (i < a.length && compare(a[i] as T, b[j] as T) <= 0)
    merged.push((isFirst ? a[i++] : b[j++]) as T)
    if (merged.length % rowsPerSortStep === 0) await turns.next()
  }
  return merged
}
