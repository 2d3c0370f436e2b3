// The last statement of every unaudited commit of this node: it fails if the node's row is not up, and numbers the commit in it.
import { CompiledQuery } from 'kysely'
import type { Database } from '../db/db.ts'
import type { EngineTransaction } from '../db/engine.ts'
import { DatabaseUnreachable } from '../db/errors.ts'
import type { CommitFence, CommitNumber } from '../db/group-commit.ts'
import type { ThisNode } from './this-node.ts'

/**
 * The column must not be null, so the statement fails with code 23502 if the row is not up. If the row is gone, the statement
 * takes another row so that it fails: an update of no rows would succeed. It returns no rows, so nothing waits for it before the commit.
 */
const raiseNumber = CompiledQuery.raw(
  `update nodes set changes = case when id = $1 and state = 'up' then changes + $2 end
   where id = coalesce((select id from nodes where id = $1), (select max(id) from nodes))`,
)
const readNumber = CompiledQuery.raw('select changes from nodes where id = $1') as CompiledQuery<{ changes: number }>

export class NodeFence implements CommitFence {
  readonly separate: CommitFence
  readonly #db: Database
  readonly #node: ThisNode
  readonly #onRefused: () => void
  /** The last commit. This node is the only writer of its number, so it need not read it. */
  #last: { readonly nodeId: number; readonly number: number }
  /** The row that the present transaction counts in. */
  #nodeId: number
  #isNumbered = false
  #isUncertain = false

  constructor(db: Database, node: ThisNode, onRefused: () => void) {
    this.#db = db
    this.#node = node
    this.#onRefused = onRefused
    this.#nodeId = node.id
    this.#last = { nodeId: node.id, number: 0 }
    this.separate = separateFence(node, onRefused)
  }

  async prepare(): Promise<void> {
    if (!this.#isUncertain) return
    const { nodeId } = this.#last
    const rows = await this.#readNumber(nodeId)
    this.#last = { nodeId, number: rows[0]?.changes ?? 0 }
    this.#isUncertain = false
  }

  /** If it fails, no commit was begun, so nothing was changed. */
  async #readNumber(nodeId: number): Promise<{ changes: number }[]> {
    try {
      return await this.#db.system.run(readNumber, [nodeId])
    } catch (error) {
      throw new DatabaseUnreachable(error)
    }
  }

  addStatement(on: EngineTransaction, isNumbered: boolean): void {
    this.#nodeId = this.#node.id
    this.#isNumbered = isNumbered
    void on.run(raiseNumber, [this.#nodeId, isNumbered ? 1 : 0])
  }

  noteCommitted(): CommitNumber | undefined {
    if (!this.#isNumbered) return undefined
    const before = this.#last.nodeId === this.#nodeId ? this.#last.number : 0
    this.#last = { nodeId: this.#nodeId, number: before + 1 }
    return this.#last
  }

  noteUncertain(): void {
    // A first commit of a new row is counted from that row's beginning.
    if (this.#last.nodeId !== this.#nodeId) this.#last = { nodeId: this.#nodeId, number: 0 }
    this.#isUncertain = true
  }

  noteRefused(): void {
    this.#onRefused()
  }
}

/** Only the row is checked: several of these commits may run at the same time, so none of them could know its number. */
function separateFence(node: ThisNode, onRefused: () => void): CommitFence {
  const fence: CommitFence = {
    get separate() {
      return fence
    },
    async prepare() {},
    addStatement(on, isNumbered) {
      if (isNumbered) {
        throw new Error('A commit of its own wrote to a table with listeners, of which other nodes would not hear.')
      }
      void on.run(raiseNumber, [node.id, 0])
    },
    noteCommitted: () => undefined,
    noteUncertain() {},
    noteRefused: onRefused,
  }
  return fence
}
