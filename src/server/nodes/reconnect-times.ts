// The times by which statements decide whether a device is away because a server stopped. [contract 8.state]
import type { Clock } from '../core/clock.ts'
import type { PresenceTimes } from './presence-sql.ts'
import { lastKnownEnd, type NodeLife, serviceStart } from './service-runs.ts'

export class ReconnectTimes {
  readonly #clock: Clock
  readonly #settleMs: () => number
  /** The nodes before this one. Those that start later do not change when the service started. */
  #lives: readonly NodeLife[] = []
  #startedAt = 0
  #lastEnd = { settleMs: Number.NaN, at: 0 }

  constructor(clock: Clock, settleMs: () => number) {
    this.#clock = clock
    this.#settleMs = settleMs
  }

  /** Takes the rows of all nodes. Must be called when this process has its row, and again when it has a new row. */
  load(lives: readonly NodeLife[]): void {
    this.#lives = lives
    this.#startedAt = serviceStart(this.#lives, this.#clock.now())
    this.#lastEnd = { settleMs: Number.NaN, at: 0 }
  }

  get current(): PresenceTimes {
    const settleMs = this.#settleMs()
    if (this.#lastEnd.settleMs !== settleMs) {
      this.#lastEnd = { settleMs, at: lastKnownEnd(this.#lives, this.#startedAt, settleMs) }
    }
    const now = this.#clock.now()
    const settledAt = this.#startedAt + settleMs
    const lastEnd = this.#lastEnd.at
    return { now, unknownAfter: now < settledAt ? lastEnd : now, settleMs, settledAt, lastEnd }
  }
}
