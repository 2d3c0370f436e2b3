// The units that a rollback still has to check, in memory. A restart reads them again, so that nothing is lost with it.
import type { OrgReader } from '../../../db/handles.ts'
import { unitRanges } from '../../units/unit-ranges.ts'
import { listTouchedNumbers, listUnitsInRollback } from './rollback-store.ts'

interface QueuedUnit {
  readonly number: number
  /** The unit is not checked before this time. */
  readonly notBefore: number
}

export class RollbackQueue {
  /** Undefined before the units were read. */
  #waiting: QueuedUnit[] | undefined
  /** Units that were rolled back, and whose devices may not have confirmed that. */
  #unconfirmed: number[] = []

  /** Reads the units of a job that were touched, if none are left in the queue. Returns false if there are none. */
  async fill(on: OrgReader, job: { readonly id: number; readonly unitCount: number }, since: number): Promise<boolean> {
    if (this.#waiting && this.#waiting.length > 0) return true
    const numbers: number[] = []
    const unconfirmed: number[] = []
    for await (const range of unitRanges(job.unitCount)) {
      for (const { number } of await listTouchedNumbers(on, { job: job.id, ...range })) numbers.push(number)
      if (this.#waiting) continue
      for (const { number } of await listUnitsInRollback(on, { job: job.id, ...range, since })) unconfirmed.push(number)
    }
    // After the first time, the queue itself knows what it has rolled back.
    if (!this.#waiting) this.#unconfirmed = unconfirmed
    this.#waiting = numbers.sort((a, b) => b - a).map((number) => ({ number, notBefore: Number.NEGATIVE_INFINITY }))
    return numbers.length > 0
  }

  /** The next units to check: those that have waited longest, and of these the last one of the job first. */
  next(now: number, isNow: boolean, limit: number): number[] {
    const due = (this.#waiting ?? []).filter(({ notBefore }) => isNow || notBefore <= now)
    return due.slice(0, limit).map(({ number }) => number)
  }

  /** Takes units that have ended out of the queue, and puts those that must wait at its end. */
  update(ended: ReadonlySet<number>, waiting: ReadonlySet<number>, notBefore: number): void {
    const others = (this.#waiting ?? []).filter(({ number }) => !ended.has(number) && !waiting.has(number))
    this.#waiting = [...others, ...[...waiting].map((number) => ({ number, notBefore }))]
    this.#unconfirmed.push(...ended)
  }

  get unconfirmed(): readonly number[] {
    return this.#unconfirmed
  }

  keepUnconfirmed(numbers: readonly number[]): void {
    this.#unconfirmed = [...numbers]
  }

  get isEmpty(): boolean {
    return this.#waiting?.length === 0
  }
}
