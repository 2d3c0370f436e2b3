// Group commit: works that arrive while another commit runs share the next one, in the order of their arrival.

import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import { CompiledQuery } from 'kysely'
import type { TimeLimits } from '../core/time-limits.ts'
import type { AttemptOutcome, DatabaseEngine, DatabaseMetrics, EngineTransaction } from './engine.ts'
import { type DatabaseProblem, databaseFailure, databaseProblemOf } from './errors.ts'
import { MovedHeads } from './moved-heads.ts'
import type { WrittenRows } from './written-rows.ts'

/** The writes of one try to tables with listeners, the number of its commit, and the heads of audit logs that it moves. */
export interface CommitLog {
  readonly rows: WrittenRows[]
  /** The number of an audited commit. Only PostgreSQL uses it. */
  number: CommitNumber | undefined
  readonly heads: MovedHeads
}

export const newCommitLog = (): CommitLog => ({ rows: [], number: undefined, heads: new MovedHeads() })

/** A function that runs in a transaction. A retry calls it again, so it must keep no state from its first run. */
export type TransactionWork<T> = (on: EngineTransaction, log: CommitLog) => Promise<T>

/**
 * The place of a commit in one of two sequences without gaps: the unaudited commits of a node that wrote to a table with
 * listeners (`nodes.changes`), or the audited ones of an organisation (`audit_heads.count`). By it other nodes know whether they have heard
 * of the commit.
 */
export type CommitNumber =
  | { readonly nodeId: number; readonly number: number }
  | { readonly org: number; readonly number: number }

/** Is called after a commit that has a number, before its writers continue. */
export type CommitListener = (written: readonly WrittenRows[], commit: CommitNumber) => void

/** Stops the commits of a node that was declared dead. Shared commits pass one at a time; separate commits pass `separate` concurrently. */
export interface CommitFence {
  /** The fence of commits that are not shared. It gives no numbers, so it refuses writes to tables with listeners. */
  readonly separate: CommitFence
  /** Must be awaited before each transaction: after one of unknown outcome it reads how many commits there were. */
  prepare(): Promise<void>
  /**
   * Adds the statement that fails if this node's row is not up, and that numbers the commit if caches of other nodes may depend on it.
   * The caller need not wait for the statement: the commit fails with it.
   */
  addStatement(on: EngineTransaction, isNumbered: boolean): void
  /** Is called after the commit, and returns its number if it has one. */
  noteCommitted(): CommitNumber | undefined
  /** Is called when it is not known whether the commit was made, or which numbers the database has. */
  noteUncertain(): void
  /** Is called when the commit failed because this node was declared dead. */
  noteRefused(): void
}

export interface GroupCommitOptions {
  readonly limits: TimeLimits
  readonly transaction: DatabaseEngine['transaction']
  /** Is called after each try, before any caller continues. */
  readonly notify: (written: readonly WrittenRows[]) => void
  readonly observe: DatabaseMetrics['transaction']
  /** Is called when works were refused because of a problem of the database. */
  readonly noteProblem: (problem: DatabaseProblem) => void
  /** Undefined for audited commits, on SQLite, and before this process is a node. */
  readonly fence?: () => CommitFence | undefined
  /** Is called after a commit that has a number, before any caller continues. */
  readonly numbered: (written: readonly WrittenRows[], commit: CommitNumber) => void
}

const retryPauseMs = () => 5 + Math.random() * 20

/** After a group waited too long for a lock, its works run one by one, each with this short limit, because the others wait behind it. */
const suspectLockTimeout = CompiledQuery.raw("set local lock_timeout = '300ms'")

/** Limits on the works that share a commit. On SQLite no other write can begin before its end. */
const maxGroupSize = 500
const maxGroupMs = 10

export interface WorkOptions {
  readonly subject?: string | undefined
  readonly waitedMs?: number
}

interface WaitingWork {
  readonly work: TransactionWork<unknown>
  /** Names the rows that the work reads and writes, such as those of an endpoint; undefined if they may be any. */
  readonly subject: string | undefined
  readonly waitedMs: number
  readonly since: number
  /** A work of its group failed, and it is not known which one. Suspects run alone. */
  readonly isSuspect: boolean
  /** A work of its group waited too long for a row that another session has locked. */
  readonly maybeLocked?: true
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

export class GroupCommit {
  readonly #options: GroupCommitOptions
  /** Suspects are in front. */
  readonly #waiting: WaitingWork[] = []
  #running: Promise<void> | undefined

  constructor(options: GroupCommitOptions) {
    this.#options = options
  }

  /**
   * Resolves when the work is durable. Works that name different subjects may run at the same time, in one transaction. The time that a
   * work has waited before counts in the metric of transactions.
   */
  add<T>(work: TransactionWork<T>, { subject, waitedMs = 0 }: WorkOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, subject, waitedMs, since: performance.now(), isSuspect: false, resolve, reject })
      this.#running ??= this.#run()
    })
  }

  /** Resolves when no work is waiting. */
  get idle(): Promise<void> {
    return this.#running ?? Promise.resolve()
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Writes of the same turn of the event loop join the group.
      await immediate()
      await this.#commit(this.#waiting.splice(0, this.#waiting[0]?.isSuspect ? 1 : maxGroupSize))
    }
    this.#running = undefined
  }

  async #commit(group: readonly WaitingWork[]): Promise<void> {
    const log = newCommitLog()
    const { rows: written } = log
    const fence = this.#options.fence?.()
    let outcomes: AttemptOutcome<unknown>[]
    try {
      await fence?.prepare()
      outcomes = await this.#options.transaction((on) => runGroup(group, on, log, fence))
    } catch (error) {
      // If the connection broke during the commit, the commit may have succeeded, or may succeed later.
      this.#options.notify(written)
      const problem = databaseProblemOf(error)
      if (problem === 'gone') {
        fence?.noteUncertain()
        setTimeout(() => this.#options.notify(written), this.#options.limits.lateCommitMs).unref()
      }
      if (problem === 'fenced') fence?.noteRefused()
      await this.#handleFailure(group, error)
      return
    }
    this.#options.notify(written)
    const number = fence ? fence.noteCommitted() : log.number
    if (number) this.#options.numbered(written, number)
    this.#waiting.unshift(...group.slice(outcomes.length))
    this.#observe('committed', group[0])
    for (const [i, outcome] of outcomes.entries()) {
      if ('error' in outcome) this.#refuse(group.slice(i, i + 1), outcome.error)
      else group[i]?.resolve(outcome.result as never)
    }
  }

  async #handleFailure(group: readonly WaitingWork[], error: unknown): Promise<void> {
    const problem = databaseProblemOf(error)
    if (problem === 'race') {
      const now = performance.now()
      const mayRetry = ({ since }: WaitingWork) => now - since < this.#options.limits.writeRaceMs
      this.#refuse(
        group.filter((waiting) => !mayRetry(waiting)),
        error,
      )
      this.#waiting.unshift(...group.filter(mayRetry))
      // The pause is here and not in the engine, where it would block the event loop.
      await sleep(retryPauseMs())
    } else if (group.length === 1 || (problem && problem !== 'locked')) {
      this.#refuse(group, error)
    } else {
      const suspicion = problem === 'locked' ? ({ isSuspect: true, maybeLocked: true } as const) : { isSuspect: true }
      this.#waiting.unshift(...group.map((waiting) => ({ ...waiting, ...suspicion })))
    }
  }

  #refuse(group: readonly WaitingWork[], error: unknown): void {
    const problem = databaseProblemOf(error)
    this.#observe('rolled back', group[0])
    if (problem) this.#options.noteProblem(problem)
    for (const { reject } of group) reject(problem ? databaseFailure(problem, true) : error)
  }

  #observe(outcome: 'committed' | 'rolled back', first: WaitingWork | undefined): void {
    if (first) this.#options.observe(outcome, (first.waitedMs + performance.now() - first.since) / 1000)
  }
}

/** Runs works of the group until its time is up, and returns the outcomes of those that ran. */
async function runGroup(
  group: readonly WaitingWork[],
  on: EngineTransaction,
  log: CommitLog,
  fence: CommitFence | undefined,
): Promise<AttemptOutcome<unknown>[]> {
  const started = performance.now()
  const outcomes: AttemptOutcome<unknown>[] = []
  if (group[0]?.maybeLocked) await on.run(suspectLockTimeout, [])
  do {
    const from = outcomes.length
    // A single work needs no savepoint: the transaction is rolled back if it fails.
    if (on.attempt && group.length > 1) {
      const headCount = log.heads.count
      const outcome = await on.attempt(() => (group[from] as WaitingWork).work(on, log))
      if ('error' in outcome) log.heads.keepFirst(headCount)
      outcomes.push(outcome)
    } else outcomes.push(...(await runTogether(worksAtOnce(group, from), on, log)))
  } while (outcomes.length < group.length && performance.now() - started <= maxGroupMs)
  await log.heads.write()
  fence?.addStatement(on, log.rows.length > 0)
  return outcomes
}

/** Returns the work at this place, with the next ones if all of them name a subject. */
function worksAtOnce(group: readonly WaitingWork[], from: number): readonly WaitingWork[] {
  let end = from + 1
  if (group[from]?.subject !== undefined) while (group[end]?.subject !== undefined) end++
  return group.slice(from, end)
}

/** Works on one subject keep their order. Statements of different subjects are sent without waiting for each other. */
async function runTogether(
  works: readonly WaitingWork[],
  on: EngineTransaction,
  log: CommitLog,
): Promise<AttemptOutcome<unknown>[]> {
  const [only] = works
  if (only && works.length === 1) return [{ result: await only.work(on, log) }]
  const results = new Map<WaitingWork, unknown>()
  const inOrder = async (ofSubject: readonly WaitingWork[]) => {
    for (const waiting of ofSubject) results.set(waiting, await waiting.work(on, log))
  }
  const bySubject = Map.groupBy(works, ({ subject }) => subject)
  // The transaction ends only when no work uses it any more.
  const ends = await Promise.allSettled([...bySubject.values()].map(inOrder))
  const failed = ends.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined
  if (failed) throw failed.reason
  return works.map((waiting) => ({ result: results.get(waiting) }))
}
