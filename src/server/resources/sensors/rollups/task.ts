// The scheduled task of sensor data: creates partitions, rolls up due quarters, deletes old samples, one after the other.
import type { Services } from '../../../context/services.ts'
import type { Horizon } from './horizon.ts'
import { makePartitions } from './partitions.ts'
import { deleteOldSamples } from './retention.ts'
import { rollUp } from './roll-up.ts'

/** Old samples are deleted this often, for the first time this long after the start. */
const deletionIntervalMs = 3_600_000
const firstDeletionDelayMs = 300_000

export class RollupTask {
  readonly #services: Services
  readonly #horizon: Horizon
  /** On the monotonic clock of the process, which does not jump when the system clock is set. */
  #nextDeletionAtMs: number

  constructor(services: Services, horizon: Horizon, firstDelayMs = firstDeletionDelayMs) {
    this.#nextDeletionAtMs = performance.now() + firstDelayMs
    this.#services = services
    this.#horizon = horizon
  }

  /** Called every few seconds. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#services.db.engine === 'postgres') await makePartitions(this.#services, signal)
    await rollUp(this.#services, signal)
    if (signal.aborted || performance.now() < this.#nextDeletionAtMs) return
    await deleteOldSamples(this.#services, this.#horizon, signal)
    this.#nextDeletionAtMs = performance.now() + deletionIntervalMs
  }
}
