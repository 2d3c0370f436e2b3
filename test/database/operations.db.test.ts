// Lets every operation run its statements with rows, for a caller of the whole organisation and for callers of one region.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operationIds } from '../../src/contract/operations.ts'
import { startWalk } from '../contract/walk-calls.ts'
import { perform } from '../support/contract/calls.ts'
import { SharedFixture } from '../support/contract/shared-fixture.ts'
import { engine, type Harness } from '../support/harness.ts'
import { buildPlaces } from '../support/places/generated-places.ts'
import { readEverything, threeRegions } from '../support/places/read-everything.ts'

let harness: Harness
let shared: SharedFixture
beforeAll(async () => {
  harness = await startWalk()
  shared = new SharedFixture(harness)
})
afterAll(() => harness.close())

test.each(operationIds)('%s succeeds', async (id) => {
  const { reply } = await shared.succeed(id, async (f) => ({ reply: await perform(harness, f, id) }))
  expect(reply.status, reply.text).toBe(200)
})

// On SQLite equal-rows.http.test.ts does this.
test.runIf(engine === 'postgres')(
  'every read succeeds in an organisation of several regions, for callers of all and of some of them',
  async () => {
    await readEverything(harness, await buildPlaces(harness, threeRegions))
  },
)
