// Whether the database can be used: /readyz reports this, and cached responses are served only while it answers.
import { type DatabaseFailure, DatabaseOutage, type DatabaseProblem, DiskFull, retryLater } from './errors.ts'

const notAnswering = new DatabaseOutage(
  'UNAVAILABLE',
  'The database does not answer, and nothing was changed. Send the request again in a moment.',
  retryLater,
)
const diskIsFull = new DiskFull(
  'UNAVAILABLE',
  'The disk of the database is full, and nothing can be written. Free some space.',
  retryLater,
)

export class DatabaseHealth {
  #isAnswering = true
  #outageBeganAt = 0
  #isFull = false
  readonly #listeners: ((isAnswering: boolean) => void)[] = []
  /** The number of statements answered so far: while it grows, the database answers. */
  answers = 0

  /** Why the service is not ready; undefined while it is. */
  get problem(): DatabaseFailure | undefined {
    return this.outage ?? (this.#isFull ? diskIsFull : undefined)
  }

  /** Set while the database does not answer. Cached data must not be served then, because it may be outdated. */
  get outage(): DatabaseFailure | undefined {
    return this.#isAnswering ? undefined : notAnswering
  }

  /** How long the database has not answered; 0 while it does. */
  get outageMs(): number {
    return this.#isAnswering ? 0 : performance.now() - this.#outageBeganAt
  }

  get isFull(): boolean {
    return this.#isFull
  }

  /** Listeners are called when an outage begins and when it ends. */
  listen(listener: (isAnswering: boolean) => void): void {
    this.#listeners.push(listener)
  }

  /** Calls the listeners only if the state changes. */
  setAnswering(isAnswering: boolean): void {
    if (this.#isAnswering === isAnswering) return
    this.#isAnswering = isAnswering
    this.#outageBeganAt = performance.now()
    for (const listener of this.#listeners) listener(isAnswering)
  }

  /** Records why a write failed. */
  noteFailedWrite(problem: DatabaseProblem): void {
    if (problem === 'full') this.#isFull = true
  }

  /** Is called when a write that needs space has succeeded. */
  markSpaceAvailable(): void {
    this.#isFull = false
  }
}
