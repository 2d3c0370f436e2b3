// Lets every operation run its statements with rows, for a caller of the whole organisation and for callers of one region.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pathOf } from '../../src/client/client.ts'
import { operationIds, operations } from '../../src/contract/operations.ts'
import { startWalk } from '../contract/walk-calls.ts'
import { perform } from '../support/contract/calls.ts'
import { type ReadId, readCalls } from '../support/contract/reads.ts'
import { SharedFixture } from '../support/contract/shared-fixture.ts'
import type { Harness } from '../support/harness.ts'
import { type Credentials, newApiKey, newSession } from '../support/places/callers.ts'
import { buildPlaces, type GeneratedPlaces, type PlacePlan } from '../support/places/generated-places.ts'

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

/** Three regions, of which the callers see the first and the third, and something of each kind in all of them and in none. */
const plan: PlacePlan = {
  regions: 2,
  locations: [2, null],
  rooms: [2, 3, null],
  endpoints: [3, 4],
  notes: [0, 1, 2, 3],
  users: [
    { allRegions: false, regions: [0] },
    { allRegions: true, regions: [] },
  ],
  moves: [
    { what: 'endpoint', which: 0, to: 0 },
    { what: 'location', which: 1, to: 1 },
  ],
  seen: [2],
}

test('every read succeeds in an organisation of several regions, for callers of all and of some of them', async () => {
  const places = await buildPlaces(harness, plan)
  const regionIds = places.seenRegions.map(({ id }) => Number(id))
  const callers = {
    owner: { key: places.key },
    'key of some regions': await newApiKey(places, { scopes: ['read', 'write'], regionIds }),
    'admin of some regions': await newSession(harness, places, 'admin', regionIds),
  }
  for (const [name, caller] of Object.entries(callers)) {
    for (const id of Object.keys(readCalls) as ReadId[]) {
      const answered = await countAnswered(places, id, caller)
      const mustAnswer = name === 'owner' || !(operations[id] as { manage?: true }).manage
      if (mustAnswer && readCalls[id](places).length > 0) expect(answered, `${id} by ${name}`).toBeGreaterThan(0)
    }
  }
})

/** The calls that were not refused. Callers of some regions are refused what they do not see. */
async function countAnswered(places: GeneratedPlaces, id: ReadId, caller: Credentials): Promise<number> {
  let answered = 0
  for (const input of (readCalls[id] as (p: GeneratedPlaces) => object[])(places)) {
    const path = pathOf(operations[id], places.id, input as Record<string, unknown>)
    const { status, text } = await harness.call('GET', path, caller)
    expect(status, text).toBeLessThan(500)
    if (status === 200) answered++
  }
  return answered
}
