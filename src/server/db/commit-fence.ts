// The interface through which a node numbers its unaudited commits, and is kept from committing after it was declared dead.
import type { EngineTransaction } from './engine.ts'
import type { WrittenRows } from './written-rows.ts'

/** Identifies an unaudited commit: the nth of a row in `nodes`. */
export interface CommitNumber {
  readonly nodeId: number
  readonly number: number
}

/** Is called after an unaudited commit, before its writers continue. */
export type CommitListener = (written: readonly WrittenRows[], commit: CommitNumber) => void

/** One commit at a time passes the fence. */
export interface CommitFence {
  /** Must be awaited before each transaction: after one of unknown outcome it reads how many commits there were. */
  prepare(): Promise<void>
  /** Adds the statement that numbers the commit, and that fails if this node's row is not up. It is not awaited. */
  statement(on: EngineTransaction): void
  /** Is called after the commit, and returns its number. */
  committed(): CommitNumber
  /** Is called when it is not known whether the commit was made. */
  uncertain(): void
  /** Is called when the commit failed because this node was declared dead. */
  refused(): void
}
