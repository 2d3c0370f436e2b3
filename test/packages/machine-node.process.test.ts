// The Node that runs the examples of the packages.
import { expect, test } from 'vitest'
import { nodeVersions } from '../support/packages.ts'

test('the examples run with another Node than the tests if the machine has one', async () => {
  const { used, others } = await nodeVersions()
  const isFallback = used === process.version
  expect(isFallback ? others : [], `only ${used} was used`).toEqual([])
  expect(Number(/^v(\d+)/.exec(used)?.[1])).toBeGreaterThanOrEqual(20)
})
