// Group commit: works that arrive while another commit is under way share the next one, in the order in which they came.

import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import type { AttemptOutcome, DatabaseEngine, DatabaseMetrics, EngineTransaction } from './engine.ts'
import { type DatabaseProblem, databaseFailure, databaseProblemOf } from './errors.ts'
import type { WrittenRows } from './written-rows.ts'

/** Something to be done in a transaction. It may run twice, so it must not remember anything of its first run. */
export type TransactionWork<T> = (on: EngineTransaction, written: WrittenRows[]) => Promise<T>

export interface GroupCommitOptions {
  readonly transaction: DatabaseEngine['transaction']
  /** Of each try, before anybody goes on. */
  readonly tell: (written: readonly WrittenRows[]) => void
  readonly observe: DatabaseMetrics['transaction']
  /** Told why works were refused, if the reason is a trouble of the database. */
  readonly failed: (trouble: DatabaseProblem) => void
}

/** How long a work waits for other processes before it gives up, and how long between two tries. */
const patience = 5_000
const pause = () => 5 + Math.random() * 20

/** So long after a connection broke, what was sent before has happened or never will, in milliseconds. */
const late = 10_000

/** How many works share a commit at most. */
const largestGroup = 500
/** And for how long, in milliseconds: on SQLite no other write begins meanwhile. */
const longestGroup = 10

interface Waiting {
  readonly work: TransactionWork<unknown>
  readonly since: number
  /** Somebody in its group made a mistake, and it is not known who. */
  readonly isSuspect: boolean
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

export class GroupCommit {
  readonly #ways: GroupCommitOptions
  /** Suspects are in front. */
  readonly #waiting: Waiting[] = []
  #running: Promise<void> | undefined

  constructor(ways: GroupCommitOptions) {
    this.#ways = ways
  }

  /** Resolves when the work is durable. */
  add<T>(work: TransactionWork<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, since: performance.now(), isSuspect: false, resolve, reject })
      this.#running ??= this.#run()
    })
  }

  /** Resolves when nothing waits any more. */
  get idle(): Promise<void> {
    return this.#running ?? Promise.resolve()
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Whoever writes in the same turn of the event loop comes along.
      await immediate()
      await this.#commit(this.#waiting.splice(0, this.#waiting[0]?.isSuspect ? 1 : largestGroup))
    }
    this.#running = undefined
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    const written: WrittenRows[] = []
    let outcomes: AttemptOutcome<unknown>[]
    try {
      outcomes = await this.#ways.transaction((on) => outcomesOf(group, on, written))
    } catch (error) {
      // It may have happened all the same, or may still: a connection that breaks while it commits does not say.
      this.#ways.tell(written)
      if (databaseProblemOf(error) === 'gone') setTimeout(() => this.#ways.tell(written), late).unref()
      await this.#failed(group, error)
      return
    }
    this.#ways.tell(written)
    this.#waiting.unshift(...group.slice(outcomes.length))
    this.#note('committed', group[0])
    for (const [i, outcome] of outcomes.entries()) {
      if ('error' in outcome) this.#refuse(group.slice(i, i + 1), outcome.error)
      else group[i]?.resolve(outcome.result as never)
    }
  }

  async #failed(group: readonly Waiting[], error: unknown): Promise<void> {
    const trouble = databaseProblemOf(error)
    if (trouble === 'race') {
      const now = performance.now()
      const isPatient = ({ since }: Waiting) => now - since < patience
      this.#refuse(
        group.filter((waiting) => !isPatient(waiting)),
        error,
      )
      this.#waiting.unshift(...group.filter(isPatient))
      // Waiting is awaited here, never in the engine: there it would hold up everybody.
      await sleep(pause())
    } else if (trouble || group.length === 1) {
      this.#refuse(group, error)
    } else {
      this.#waiting.unshift(...group.map((waiting) => ({ ...waiting, isSuspect: true })))
    }
  }

  #refuse(group: readonly Waiting[], error: unknown): void {
    const trouble = databaseProblemOf(error)
    this.#note('rolled back', group[0])
    if (trouble) this.#ways.failed(trouble)
    for (const { reject } of group) reject(trouble ? databaseFailure(trouble, true) : error)
  }

  #note(outcome: 'committed' | 'rolled back', first: Waiting | undefined): void {
    if (first) this.#ways.observe(outcome, (performance.now() - first.since) / 1000)
  }
}

/** Of as many as there is time for. */
async function outcomesOf(
  group: readonly Waiting[],
  on: EngineTransaction,
  written: WrittenRows[],
): Promise<AttemptOutcome<unknown>[]> {
  const started = performance.now()
  const outcomes: AttemptOutcome<unknown>[] = []
  for (const { work } of group) {
    // Alone it takes the whole transaction with it, and that is cheaper.
    const outcome = group.length > 1 && on.attempt?.(() => work(on, written))
    outcomes.push(outcome ? await outcome : { result: await work(on, written) })
    if (performance.now() - started > longestGroup) break
  }
  return outcomes
}
