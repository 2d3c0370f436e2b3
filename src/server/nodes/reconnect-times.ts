// The times by which statements decide whether a device is away because of the end of a server. [contract 8.state]
import type { Clock } from '../core/clock.ts'
import type { SystemReader } from '../db/system.ts'
import { lastKnownEnd, serviceStart } from './service-runs.ts'
import { listNodeLives } from './store.ts'

/** Milliseconds. `presence-sql.ts` says what follows from them. */
export type PresenceTimes = {
  now: number
  /** How long devices may take to come back. */
  settleMs: number
  /** Devices that were away when the service started have at least until then. */
  settledAt: number
  /** A device whose time was over before this has been offline since then. */
  lastEnd: number
}

export class ReconnectTimes {
  readonly #clock: Clock
  readonly #settleMs: () => number
  /** The nodes before this one. Those that start later do not change when the service started. */
  #lives: Awaited<ReturnType<typeof listNodeLives>> = []
  #startedAt = 0
  #lastEnd = { settleMs: Number.NaN, at: 0 }

  constructor(clock: Clock, settleMs: () => number) {
    this.#clock = clock
    this.#settleMs = settleMs
  }

  /** Must be called when this process has its row, and again when it has a new row. */
  async load(on: SystemReader): Promise<void> {
    this.#lives = await listNodeLives(on)
    this.#startedAt = serviceStart(this.#lives, this.#clock.now())
    this.#lastEnd = { settleMs: Number.NaN, at: 0 }
  }

  get current(): PresenceTimes {
    const settleMs = this.#settleMs()
    if (this.#lastEnd.settleMs !== settleMs) {
      this.#lastEnd = { settleMs, at: lastKnownEnd(this.#lives, this.#startedAt, settleMs) }
    }
    return {
      now: this.#clock.now(),
      settleMs,
      settledAt: this.#startedAt + settleMs,
      lastEnd: this.#lastEnd.at,
    }
  }
}
