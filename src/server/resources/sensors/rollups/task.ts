// Keeps sensor data in order: rolls up what is due and forgets what is old, one after the other, never two at once.
import type { Services } from '../../../context/services.ts'
import type { Horizon } from './horizon.ts'
import { makePartitions } from './partitions.ts'
import { deleteOldSamples } from './retention.ts'
import { rollUp } from './roll-up.ts'

/** How often it looks for what is old, and how long after the start it does so first, in milliseconds. */
const hour = 3_600_000
const fiveMinutes = 300_000

export class RollupTask {
  readonly #ground: Services
  readonly #horizon: Horizon
  /** By the time that this process has run: a clock that is set does not make it sooner. */
  #forgetsAt: number

  constructor(services: Services, horizon: Horizon, atFirst = fiveMinutes) {
    this.#forgetsAt = performance.now() + atFirst
    this.#ground = services
    this.#horizon = horizon
  }

  /** To be called every few seconds. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#ground.db.engine === 'postgres') await makePartitions(this.#ground, signal)
    await rollUp(this.#ground, signal)
    if (signal.aborted || performance.now() < this.#forgetsAt) return
    await deleteOldSamples(this.#ground, this.#horizon, signal)
    this.#forgetsAt = performance.now() + hour
  }
}
