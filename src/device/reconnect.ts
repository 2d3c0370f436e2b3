// How long a device waits before it tries again.
import { backOffMs } from '../client/back-off.ts'

/** The waits between attempts to connect, to enrol and to upload logs. */
export const deviceBackOff = { firstMs: 1_000, maxMs: 60_000 }
/** A credential that has been refused for this long is tried once an hour. */
const frequentRetriesMs = 7 * 24 * 3_600_000
/** The jitter of the back-off takes up to a half, so the wait is an hour on average. */
const refusedBackOff = { firstMs: 4_800_000, maxMs: 4_800_000 }

/** The wait before the next attempt to connect. `refusedForMs` is how long the service has not known the credential. */
export const retryWaitMs = (failures: number, refusedForMs: number, random = Math.random()): number =>
  backOffMs(failures, refusedForMs < frequentRetriesMs ? deviceBackOff : refusedBackOff, random)
