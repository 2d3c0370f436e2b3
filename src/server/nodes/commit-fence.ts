// The last statement of every unaudited commit on PostgreSQL: it numbers the commit, and fails if this node is not up.
import { CompiledQuery } from 'kysely'
import type { EngineTransaction } from '../db/engine.ts'
import type { CommitFence, CommitNumber } from '../db/group-commit.ts'

// The column is NOT NULL, so PostgreSQL refuses the value of a node that is not up, and with it the commit.
const raise = "update nodes set changes = case state when 'up' then changes + 1 end where id = $1"
const raiseChanges = CompiledQuery.raw(raise)
const raiseAndRead = CompiledQuery.raw(`${raise} returning changes`) as CompiledQuery<{ changes: number }>
const checkOnly = CompiledQuery.raw("update nodes set changes = case state when 'up' then changes end where id = $1")

/**
 * Only this process writes the number of its row, and its unaudited commits run one at a time. So it counts them itself, and
 * the statement needs no round trip. After a commit that failed, or whose outcome is unknown, the next one reads the number.
 */
export class NodeFence implements CommitFence {
  readonly #nodeId: () => number
  #last: CommitNumber | undefined

  constructor(nodeId: () => number) {
    this.#nodeId = nodeId
  }

  statement(on: EngineTransaction, isNumbered: boolean): CommitNumber | undefined | Promise<CommitNumber | undefined> {
    const node = this.#nodeId()
    if (!isNumbered) {
      on.run(checkOnly, [node])
      return undefined
    }
    const last = this.#last
    this.#last = undefined
    if (!last || !('node' in last) || last.node !== node) return readNumber(on, node)
    on.run(raiseChanges, [node])
    return { node, number: last.number + 1 }
  }

  committed(number: CommitNumber): void {
    this.#last = number
  }

  forget(): void {
    this.#last = undefined
  }
}

async function readNumber(on: EngineTransaction, node: number): Promise<CommitNumber | undefined> {
  const [row] = await on.run(raiseAndRead, [node])
  return row && { node, number: row.changes }
}
