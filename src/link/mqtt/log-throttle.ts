// Says in the log what goes wrong, once a minute for each trouble: thousands of devices may have the same one.
import { Buckets } from '../../platform/auth/bucket.ts'
import type { Clock } from '../../platform/clock.ts'
import { DatabaseFailure } from '../../platform/db/trouble.ts'
import type { Log } from '../../platform/log.ts'
import type { Device } from '../handlers.ts'

export class Mentions {
  readonly #log: Log
  readonly #clock: Clock
  readonly #lately = new Buckets({ rate: 1 / 60, burst: 1 })

  constructor(log: Log, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  /** Trouble of the database is everybody's, and said of the first; anything else is said of each device. */
  warn(what: string, error: Error, device: Device | undefined, more: object = {}): void {
    const now = this.#clock.now()
    const whose = error instanceof DatabaseFailure ? error.message : (device?.id ?? '')
    if (!this.#lately.of(`${what} ${whose}`, now).take(now)) return
    const { org, id, serial } = device ?? {}
    this.#log.warn({ org: org?.id, endpoint: id, serial, ...more, reason: error.message }, what)
  }
}
