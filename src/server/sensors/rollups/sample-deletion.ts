// The scheduled task that deletes old samples and rollups once an hour.
import { hourMs } from '../../../contract/durations.ts'
import type { Services } from '../../context/services.ts'
import { quarters } from '../../core/time/slots.ts'
import type { Horizon } from './horizon.ts'
import { deleteOldSamples, sampleDeletionTime } from './retention.ts'
import { hasDueBefore } from './retention-store.ts'

/** Old samples are deleted for the first time this long after the start. */
const firstDeletionDelayMs = 300_000

export class SampleDeletion {
  readonly #horizon: Horizon
  /** On the monotonic clock of the process, which does not jump when the system clock is set. */
  #nextAtMs: number

  constructor(horizon: Horizon, firstDelayMs = firstDeletionDelayMs) {
    this.#nextAtMs = performance.now() + firstDelayMs
    this.#horizon = horizon
  }

  /** Called every few seconds. Samples stay until their quarters are rolled up, which other nodes may still be doing. */
  async run(services: Services, signal: AbortSignal): Promise<void> {
    if (signal.aborted || performance.now() < this.#nextAtMs) return
    if (await hasDueBefore(services.db.system, { slot: quarters.at(sampleDeletionTime(services)) })) return
    await deleteOldSamples(services, this.#horizon, signal)
    this.#nextAtMs = performance.now() + hourMs
  }
}
