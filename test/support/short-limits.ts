// Short time limits, for tests that wait until a limit is over. src/server/core/time-limits.test.ts checks the true ones.
import { scaleTimeLimits } from '../../src/server/core/time-limits.ts'

/** The part of a limit that exceeds 2 s becomes a tenth: 15 s are 3.3 s, 30 s are 4.8 s. */
const factor = 0.1

/** For a service in the test's own process. */
export const shortLimits = scaleTimeLimits(factor)

/** For a server with a process of its own. */
export const shortLimitsVariable = { ROOMKEEPER_TEST_TIME_FACTOR: String(factor) }
