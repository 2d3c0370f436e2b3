// Stores that this node was running when the grace period was over: the next start cannot tell when a node crashed. [contract 8.state]
import type { Database } from '../db/db.ts'
import type { ReconnectTimes } from './reconnect-times.ts'
import { updateSeen } from './store.ts'
import type { ThisNode } from './this-node.ts'

export class GraceEnd {
  readonly #db: Database
  readonly #node: ThisNode
  readonly #reconnects: ReconnectTimes
  #stored: { readonly nodeId: number; readonly at: number } | undefined

  constructor(db: Database, node: ThisNode, reconnects: ReconnectTimes) {
    this.#db = db
    this.#node = node
    this.#reconnects = reconnects
  }

  /** Writes once for each row of this node, and again if the grace period was made longer. */
  async write(): Promise<void> {
    const { now, settledAt } = this.#reconnects.current
    const { id } = this.#node
    const isStored = this.#stored?.nodeId === id && this.#stored.at >= settledAt
    if (now < settledAt || isStored) return
    await this.#db.systemTransaction((tx) => updateSeen(tx, { id, at: now }))
    this.#stored = { nodeId: id, at: now }
  }
}
