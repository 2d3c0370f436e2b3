// Random choices that depend on a seed only, so that a failed run can be repeated.
import { seededRandom } from '../../../src/simulator/seeded-random.ts'

export class SeededChoices {
  readonly #seed: number
  #count = 0

  constructor(seed: number) {
    this.#seed = seed
  }

  /** A whole number from 0 to below the limit. */
  below(limit: number): number {
    return Math.floor(seededRandom(this.#seed, ++this.#count) * limit)
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)))
  }

  /** A copy in which some bytes are replaced. */
  damage(bytes: Buffer): Buffer {
    const copy = Buffer.from(bytes)
    for (let i = 1 + this.below(4); i > 0 && copy.length > 0; i--) copy[this.below(copy.length)] = this.below(256)
    return copy
  }
}
