// Stores messages of devices again while the database is away, so that a short outage disconnects no device. [contract 8.outage]
import { setTimeout as sleep } from 'node:timers/promises'
import type { TimeLimits } from '../../core/time-limits.ts'
import { DatabaseOutage } from '../../db/errors.ts'

const pauseMs = () => 250 + Math.random() * 250

export interface RetryingSession {
  readonly isOpen: boolean
}

/** The messages of one session are stored in the order in which they came. */
export class StoreRetry {
  readonly #maxOutageMs: number
  readonly #last = new WeakMap<RetryingSession, Promise<unknown>>()

  /** A restart of PostgreSQL, or the failover to a standby, takes less than 30 s. */
  constructor({ storeOutageMs }: Pick<TimeLimits, 'storeOutageMs'>) {
    this.#maxOutageMs = storeOutageMs
  }

  /**
   * Calls `store`. If the database is away, it is called again until it succeeds, the session ends, or the database has been away for
   * `storeOutageMs`. A message that comes while an earlier one is retried waits for it.
   */
  run<T>(session: RetryingSession, store: () => Promise<T>): Promise<T> {
    const before = this.#last.get(session)
    const attempt = before ? before.then(store) : store()
    return attempt.catch((error) => {
      if (!(error instanceof DatabaseOutage)) throw error
      // Several messages may be under way when the first one fails. Each of them waits here for the one before it.
      const turn = this.#last.get(session) ?? Promise.resolve()
      const retried = turn.then(() => this.#retry(session, store, error))
      const isOver = retried.then(noResult, noResult)
      this.#last.set(session, isOver)
      void isOver.then(() => this.#last.get(session) === isOver && this.#last.delete(session))
      return retried
    })
  }

  async #retry<T>(session: RetryingSession, store: () => Promise<T>, first: DatabaseOutage): Promise<T> {
    const deadline = performance.now() + this.#maxOutageMs
    let failure = first
    while (session.isOpen && performance.now() < deadline) {
      await sleep(pauseMs())
      try {
        return await store()
      } catch (error) {
        if (!(error instanceof DatabaseOutage)) throw error
        failure = error
      }
    }
    throw failure
  }
}

const noResult = () => {}
