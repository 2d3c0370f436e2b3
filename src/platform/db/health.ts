// Whether the database can be used: what /readyz says.
import { DatabaseFailure, retryLater, type Trouble } from './trouble.ts'

const diskIsFull = new DatabaseFailure(
  'UNAVAILABLE',
  'The disk of the database is full, and nothing can be written. Free some space.',
  retryLater,
)

export class DatabaseHealth {
  #isFull = false

  /** Why the service is not ready; undefined while it is. */
  get problem(): DatabaseFailure | undefined {
    return this.#isFull ? diskIsFull : undefined
  }

  get isFull(): boolean {
    return this.#isFull
  }

  /** To be called with the reason when a write failed. */
  writeFailed(trouble: Trouble): void {
    if (trouble === 'full') this.#isFull = true
  }

  /** To be called when a write that needs space has worked. */
  foundSpace(): void {
    this.#isFull = false
  }
}
