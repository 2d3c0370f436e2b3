// From when on everything that was measured is still there. Before that a sample is not taken: its quarter could not be made again.
import type { Database } from '../../../db/db.ts'
import { findHorizon, updateHorizon } from './retention-store.ts'

/**
 * What is kept may have been forgotten by other rules: a shorter retention before, a clock that ran ahead. So it is written down
 * before anything is deleted. Unix seconds.
 */
export class Horizon {
  #samples = 0

  static async load(db: Database): Promise<Horizon> {
    const horizon = new Horizon()
    horizon.#samples = (await findHorizon(db.system))?.samples ?? 0
    return horizon
  }

  get samples(): number {
    return this.#samples
  }

  async raise(db: Database, samples: number, quarters: number): Promise<void> {
    this.#samples = Math.max(this.#samples, samples)
    await db.systemTransaction((tx) => updateHorizon(tx, { samples, quarters }))
  }
}
