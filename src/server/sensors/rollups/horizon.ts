// The time before which samples may have been deleted. Older samples are refused: their quarter could not be rolled up again.
import type { Database } from '../../db/db.ts'
import { findHorizon, updateHorizon } from './retention-store.ts'

/**
 * In Unix seconds. The present settings do not tell what was deleted: the retention may have been shorter, or the clock ahead. So
 * the horizon is stored before anything is deleted.
 */
export class Horizon {
  #samples = 0

  static async load(db: Database): Promise<Horizon> {
    const horizon = new Horizon()
    await horizon.refresh(db)
    return horizon
  }

  /** Another node may have raised it. Samples are deleted an hour after they are refused, so a minute's delay does no harm. */
  async refresh(db: Database): Promise<void> {
    this.#samples = Math.max(this.#samples, (await findHorizon(db.system))?.samples ?? 0)
  }

  get samples(): number {
    return this.#samples
  }

  async raise(db: Database, samples: number, quarters: number): Promise<void> {
    this.#samples = Math.max(this.#samples, samples)
    await db.systemTransaction((tx) => updateHorizon(tx, { samples, quarters }))
  }
}
