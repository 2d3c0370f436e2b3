// Warns in the log about devices, at most once a minute for each problem: thousands of devices may have the same one.
import { TokenBuckets } from '../../../auth/token-bucket.ts'
import type { Clock } from '../../../core/clock.ts'
import type { Log } from '../../../core/log.ts'
import { DatabaseFailure } from '../../../db/errors.ts'
import type { Device } from '../handlers.ts'

export class LogThrottle {
  readonly #log: Log
  readonly #clock: Clock
  readonly #allowances = new TokenBuckets({ rate: 1 / 60, burst: 1 })

  constructor(log: Log, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  /** A problem of the database is logged once for all devices, any other once for each device. */
  warn(problem: string, error: Error, device: Device | undefined, details: object = {}): void {
    const now = this.#clock.now()
    const subject = error instanceof DatabaseFailure ? error.message : (device?.id ?? '')
    if (!this.#allowances.of(`${problem} ${subject}`, now).take(now)) return
    const { org, id, serial } = device ?? {}
    this.#log.warn({ org: org?.id, endpoint: id, serial, ...details, reason: error.message }, problem)
  }
}
