// An organisation with something of each kind in several regions, and callers who read everything in it that they can.
import { expect } from 'vitest'
import { pathOf } from '../../../src/client/client.ts'
import { operations } from '../../../src/contract/operations.ts'
import { type ReadId, readCalls } from '../contract/reads.ts'
import type { Harness } from '../harness.ts'
import { type Credentials, newApiKey, newSession } from './callers.ts'
import type { GeneratedPlaces, PlacePlan } from './generated-places.ts'

/** Three regions, of which the callers see the first and the third, and something of each kind in all of them and in none. */
export const threeRegions: PlacePlan = {
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

/** Makes every read as an owner, a key of some regions and a person of some regions. */
export async function readEverything(harness: Harness, places: GeneratedPlaces): Promise<void> {
  const regionIds = places.seenRegions.map(({ id }) => Number(id))
  const callers = {
    owner: { key: places.key },
    'key of some regions': await newApiKey(places, { scopes: ['read', 'write'], regionIds }),
    'admin of some regions': await newSession(harness, places, 'admin', regionIds),
  }
  for (const [name, caller] of Object.entries(callers)) {
    for (const id of Object.keys(readCalls) as ReadId[]) {
      const answered = await countAnswered(harness, places, id, caller)
      const mustAnswer = name === 'owner' || !(operations[id] as { manage?: true }).manage
      if (mustAnswer && readCalls[id](places).length > 0) expect(answered, `${id} by ${name}`).toBeGreaterThan(0)
    }
  }
}

/** The calls that were not refused. Callers of some regions are refused what they do not see. */
async function countAnswered(
  harness: Harness,
  places: GeneratedPlaces,
  id: ReadId,
  caller: Credentials,
): Promise<number> {
  let answered = 0
  for (const input of (readCalls[id] as (p: GeneratedPlaces) => object[])(places)) {
    const path = pathOf(operations[id], places.id, input as Record<string, unknown>)
    const { status, text } = await harness.call('GET', path, caller)
    expect(status, text).toBeLessThan(500)
    if (status === 200) answered++
  }
  return answered
}
