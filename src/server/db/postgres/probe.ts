// Asks PostgreSQL four times a second whether it is there, over a connection of its own that waits in no pool.
import type pg from 'pg'
import type { DatabaseHealth } from '../health.ts'
import type { AbandonedSessions } from './sessions.ts'

const tickMs = 250
/** With a tick before the question and one after it, an outage is noticed after 1.75 s at the latest. */
const silenceMs = 1250
/** A question without an answer is given up then, and the next one goes over a new connection. */
export const probeTimeoutMs = 3000
/** One lost connection, as after a restart of PostgreSQL, is no outage. */
const mostErrors = 1

export class PostgresProbe {
  readonly #pool: pg.Pool
  readonly #health: DatabaseHealth
  readonly #abandoned: AbandonedSessions
  /** When the question was sent that has no answer yet. */
  #askedAt: number | undefined
  /** Errors in a row. */
  #errors = 0
  #answers = 0
  #heardAt = 0

  /** The pool has one connection, which nobody else uses. */
  constructor(pool: pg.Pool, health: DatabaseHealth, abandoned: AbandonedSessions) {
    this.#pool = pool
    this.#health = health
    this.#abandoned = abandoned
  }

  /** What it returns stops it. */
  start(): () => Promise<void> {
    const ticking = setInterval(() => this.#tick(), tickMs).unref()
    return async () => clearInterval(ticking)
  }

  #tick(): void {
    // Answers on other connections count too: a probe that was lost alone is no outage.
    if (this.#answers !== this.#health.answers) {
      this.#answers = this.#health.answers
      this.#heardAt = performance.now()
    }
    if (this.#askedAt === undefined) void this.#ask()
    // After a turn of the event loop: if this process itself stood still, the answer lies in the socket.
    else if (this.#isSilent) setImmediate(() => this.#isSilent && this.#health.setAnswering(false))
  }

  get #isSilent(): boolean {
    return (
      this.#askedAt !== undefined &&
      this.#answers === this.#health.answers &&
      performance.now() - Math.max(this.#askedAt, this.#heardAt) >= silenceMs
    )
  }

  async #ask(): Promise<void> {
    this.#askedAt = performance.now()
    try {
      await this.#pool.query('select 1')
      // What an abandoned session still does, it must have done before anybody reads again.
      if (await this.#abandoned.end(this.#pool)) this.#health.setAnswering(true)
      this.#errors = 0
    } catch {
      if (++this.#errors > mostErrors) this.#health.setAnswering(false)
    } finally {
      this.#askedAt = undefined
    }
  }
}
