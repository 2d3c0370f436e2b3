// A count in the database that metrics show: scrapes share it for a while, and do not wait long for a new one. [contract D.10]
import { setTimeout as sleep } from 'node:timers/promises'
import { minuteMs } from '../../../contract/durations.ts'
import type { Clock } from '../clock.ts'

/** Counting 10,000 rooms takes about 100 ms of CPU, so scrapes share a count for this long. */
const freshMs = 10_000
/** A count that could not be renewed for this long is withdrawn. Some installations are scraped every few minutes only. */
const staleMs = 10 * minuteMs
/** A scrape waits for a new count this long, and then gets the count before it, so that it is quick when the database is busy. */
const maxWaitMs = 50

export class ScrapeCount<T> {
  readonly #clock: Clock
  readonly #read: () => Promise<T>
  #last: { readonly counted: T; readonly atMs: number } | undefined
  #counting: Promise<void> | undefined

  constructor(clock: Clock, read: () => Promise<T>) {
    this.#clock = clock
    this.#read = read
  }

  /** Undefined until the first count is finished, and when the last one is too old. */
  readonly current = async (): Promise<T | undefined> => {
    if (!this.#isYoungerThan(freshMs)) {
      this.#counting ??= this.#count().finally(() => {
        this.#counting = undefined
      })
      const timeout = new AbortController()
      await Promise.race([this.#counting, sleep(maxWaitMs, undefined, { signal: timeout.signal }).catch(() => {})])
      timeout.abort()
    }
    return this.#isYoungerThan(staleMs) ? this.#last?.counted : undefined
  }

  #isYoungerThan(ms: number): boolean {
    return this.#last !== undefined && Math.abs(this.#clock.now() - this.#last.atMs) < ms
  }

  async #count(): Promise<void> {
    try {
      this.#last = { counted: await this.#read(), atMs: this.#clock.now() }
    } catch {
      // /readyz and the log say that the database does not answer; a scrape must not fail because of it.
    }
  }
}
