// For what a node knows immediately if it has done it itself, and within a second if another node has.
import { expect, vi } from 'vitest'
import { type Harness, hasOneNode } from '../harness.ts'

/** The second that the contract allows, and some time for the check itself. */
const timeoutMs = 2000

/** With one node the check must pass immediately; with several it is repeated for a second. */
export const expectSoon = (check: () => Promise<void>): Promise<void> =>
  hasOneNode ? check() : vi.waitFor(check, { timeout: timeoutMs, interval: 20 })

/** Expects an outcome that depends on a key, a session or the rights of a person, at every node. [contract 3.10] */
export const expectSoonKnown = <T>({ nodeUrls }: Harness, ask: () => Promise<T>, expected: T): Promise<void> =>
  expectSoon(async () => {
    for (const _ of nodeUrls) expect(await ask()).toEqual(expected)
  })
