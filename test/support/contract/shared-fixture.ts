// A fixture that many operations use in turn, because making one takes about thirty requests.
import { expect } from 'vitest'
import type { OperationId } from '../../../src/contract/operations.ts'
import { type Fixture, newFixture } from '../fixture.ts'
import type { Harness, Reply } from '../harness.ts'

export class SharedFixture {
  readonly #harness: Harness
  #current: Fixture | undefined

  constructor(harness: Harness) {
    this.#harness = harness
  }

  /** Lets an operation succeed. If an earlier one has taken away what it needs, it is tried once more with a new fixture. */
  async succeed<T extends { readonly reply: Reply }>(
    id: OperationId,
    attempt: (f: Fixture) => Promise<T>,
  ): Promise<T & { readonly f: Fixture }> {
    const earlier = this.#current
    const first = earlier && (await attempt(earlier))
    if (earlier && first?.reply.status === 200) return { ...first, f: earlier }
    if (first) expect(first.reply.status, `${id} on a fixture that was used: ${first.reply.text}`).toBeLessThan(500)
    const f = await newFixture(this.#harness)
    this.#current = f
    return { ...(await attempt(f)), f }
  }
}
