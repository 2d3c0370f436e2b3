// The row of this process in the table of nodes.
import type { Clock } from '../core/clock.ts'
import { programVersion } from '../core/program-version.ts'
import type { Database } from '../db/db.ts'
import { NodeFence } from './commit-fence.ts'
import { insertNode, lockStarts, updateAllDead, updateLeft } from './store.ts'

export class ThisNode {
  readonly #db: Database
  readonly #clock: Clock
  #id: number

  private constructor(db: Database, clock: Clock, id: number) {
    this.#db = db
    this.#clock = clock
    this.#id = id
    if (db.engine === 'postgres') db.fence = new NodeFence(() => this.#id)
  }

  /** Takes a row. No other node may be up: the server lock sees to that. */
  static async start(db: Database, clock: Clock, name: string): Promise<ThisNode> {
    const at = clock.now()
    const row = await db.systemTransaction(async (on) => {
      await lockStarts(on)
      await updateAllDead(on, { at })
      return insertNode(on, { name, version: programVersion(), at })
    })
    if (!row) throw new Error('the database gave the new node no id')
    return new ThisNode(db, clock, row.id)
  }

  /** The id of the present row. */
  get id(): number {
    return this.#id
  }

  /** Ends the row, and with it the presence of every device that is connected here. */
  async leave(): Promise<void> {
    // This commit ends the row, so the fence would refuse it.
    this.#db.fence = undefined
    await this.#db.systemTransaction((on) => updateLeft(on, { id: this.#id, at: this.#clock.now() }))
  }
}
