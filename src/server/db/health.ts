// Whether the database can be used: what /readyz says, and what is asked before a remembered answer is given.
import { DatabaseFailure, type DatabaseProblem, retryLater } from './errors.ts'

const noAnswer = new DatabaseFailure(
  'UNAVAILABLE',
  'The database does not answer. Send the request again in a moment.',
  retryLater,
)
const diskIsFull = new DatabaseFailure(
  'UNAVAILABLE',
  'The disk of the database is full, and nothing can be written. Free some space.',
  retryLater,
)

export class DatabaseHealth {
  #isAnswering = true
  #isFull = false
  readonly #listeners: ((isAnswering: boolean) => void)[] = []
  /** How many statements were answered so far: while it grows, the database answers. */
  answers = 0

  /** Why the service is not ready; undefined while it is. */
  get problem(): DatabaseFailure | undefined {
    return this.outage ?? (this.#isFull ? diskIsFull : undefined)
  }

  /** Set while the database does not answer: then nothing that was read earlier may be given as if it were current. */
  get outage(): DatabaseFailure | undefined {
    return this.#isAnswering ? undefined : noAnswer
  }

  get isFull(): boolean {
    return this.#isFull
  }

  /** Listeners are called when an outage begins and when it ends. */
  listen(listener: (isAnswering: boolean) => void): void {
    this.#listeners.push(listener)
  }

  /** Repeating what is known already changes nothing. */
  setAnswering(isAnswering: boolean): void {
    if (this.#isAnswering === isAnswering) return
    this.#isAnswering = isAnswering
    for (const listener of this.#listeners) listener(isAnswering)
  }

  /** To be called with the reason when a write failed. */
  writeFailed(trouble: DatabaseProblem): void {
    if (trouble === 'full') this.#isFull = true
  }

  /** To be called when a write that needs space has worked. */
  foundSpace(): void {
    this.#isFull = false
  }
}
