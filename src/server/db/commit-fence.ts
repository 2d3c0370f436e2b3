// The interface through which a node numbers its unaudited commits, and is kept from committing after it was declared dead.
import type { EngineTransaction } from './engine.ts'
import type { WrittenRows } from './written-rows.ts'

/**
 * The place of a commit in one of two sequences without gaps: the unaudited commits of a row in `nodes` that wrote to a table with
 * listeners (`changes`), or the audited ones of an organisation (`audit_heads.count`). By it other nodes know whether they have heard
 * of the commit.
 */
export type CommitNumber =
  | { readonly nodeId: number; readonly number: number }
  | { readonly org: number; readonly number: number }

/** Is called after a commit that has a number, before its writers continue. */
export type CommitListener = (written: readonly WrittenRows[], commit: CommitNumber) => void

/** One commit at a time passes the fence. */
export interface CommitFence {
  /** Must be awaited before each transaction: after one of unknown outcome it reads how many commits there were. */
  prepare(): Promise<void>
  /**
   * Adds the statement that fails if this node's row is not up, and that numbers the commit if caches of other nodes may depend on it.
   * It is not awaited.
   */
  statement(on: EngineTransaction, isNumbered: boolean): void
  /** Is called after the commit, and returns its number if it has one. */
  committed(): CommitNumber | undefined
  /** Is called when it is not known whether the commit was made, or which numbers the database has. */
  uncertain(): void
  /** Is called when the commit failed because this node was declared dead. */
  refused(): void
}
