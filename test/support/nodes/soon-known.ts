// Checks what a node knows immediately if it has done it itself, and within a second if another node has.
import { expect, vi } from 'vitest'
import { type Harness, hasOneNode } from '../harness.ts'

/** The second that the contract allows, and some time for the check itself. */
const timeoutMs = 2000

/**
 * Expects an answer at every node. With one node it must be right immediately; with several, nodes are asked again for some time. `ask` must
 * send one request, because each request goes to the next node. [contract 3.10] [contract 5.2.bulk]
 */
export async function expectSoon<T>({ nodeUrls }: Harness, ask: () => Promise<T>, expected: T): Promise<void> {
  const check = async () => {
    for (const _ of nodeUrls) expect(await ask()).toEqual(expected)
  }
  await (hasOneNode ? check() : vi.waitFor(check, { timeout: timeoutMs, interval: 20 }))
}
