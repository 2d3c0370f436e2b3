// Short time limits, for tests that wait until a limit is over. src/server/core/time-limits.test.ts checks the true ones.
import { scaleTimeLimits, type TimeLimits } from '../../src/server/core/time-limits.ts'

interface ShortLimits {
  /** For a service in the test's own process. */
  readonly limits: TimeLimits
  /** For a server with a process of its own. */
  readonly variable: Readonly<Record<string, string>>
}

/** The part of each limit that exceeds 2 s is multiplied: with a factor of 0.1, 15 s are 3.3 s and 30 s are 4.8 s. */
export const shortenLimits = (factor: number): ShortLimits => ({
  limits: scaleTimeLimits(factor),
  variable: { ROOMKEEPER_TEST_TIME_FACTOR: String(factor) },
})
