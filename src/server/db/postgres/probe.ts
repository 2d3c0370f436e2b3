// Probes PostgreSQL four times a second over its own connection, and reports outages to the database health.
import type pg from 'pg'
import type { DatabaseHealth } from '../health.ts'
import type { AbandonedSessions } from './sessions.ts'

const tickMs = 250
/** With a tick before the probe and one after it, an outage is noticed after 1.75 s at the latest. */
const silenceMs = 1250
/** One lost connection, as after a restart of PostgreSQL, is no outage. */
const maxErrorsInRow = 1

export class PostgresProbe {
  readonly #pool: pg.Pool
  readonly #health: DatabaseHealth
  readonly #abandoned: AbandonedSessions
  /** The time when the probe was sent that has no answer yet. */
  #sentAt: number | undefined
  #errorsInRow = 0
  #answers = 0
  #lastAnswerAt = 0

  /** The pool must have one connection. The abandoned sessions are ended through it too. */
  constructor(pool: pg.Pool, health: DatabaseHealth, abandoned: AbandonedSessions) {
    this.#pool = pool
    this.#health = health
    this.#abandoned = abandoned
  }

  /** Returns the function that stops the probe. */
  start(): () => Promise<void> {
    const ticking = setInterval(() => this.#tick(), tickMs).unref()
    return async () => clearInterval(ticking)
  }

  #tick(): void {
    // Answers on other connections count too: a probe that was lost alone is no outage.
    if (this.#answers !== this.#health.answers) {
      this.#answers = this.#health.answers
      this.#lastAnswerAt = performance.now()
    }
    if (this.#sentAt === undefined) void this.#probe()
    // The check is repeated after a turn of the event loop: if this process was blocked, the answer is in the socket.
    else if (this.#isSilent) setImmediate(() => this.#isSilent && this.#health.setAnswering(false))
  }

  get #isSilent(): boolean {
    return (
      this.#sentAt !== undefined &&
      this.#answers === this.#health.answers &&
      performance.now() - Math.max(this.#sentAt, this.#lastAnswerAt) >= silenceMs
    )
  }

  async #probe(): Promise<void> {
    this.#sentAt = performance.now()
    try {
      await this.#pool.query('select 1')
      // Abandoned sessions must have ended before the service reads again, because they may still commit.
      if (await this.#abandoned.endAll()) this.#health.setAnswering(true)
      this.#errorsInRow = 0
    } catch {
      if (++this.#errorsInRow > maxErrorsInRow) this.#health.setAnswering(false)
    } finally {
      this.#sentAt = undefined
    }
  }
}
