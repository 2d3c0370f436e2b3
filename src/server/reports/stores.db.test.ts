// Statements of reports return the rows that they should, on both databases.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStores, type StoreWorld, storedAt } from '../../../test/support/database/store-world.ts'
import { listMeasuredEndpoints } from './metrics/store.ts'

let world: StoreWorld
beforeAll(async () => {
  world = await openStores()
})
afterAll(() => world.close())

test('endpoints are listed in pages, by region and by location, as far as the caller sees them', async () => {
  const { all, ofRegion, ofNothing, here, there } = world
  const times = { settledAt: 0, lastEnd: 0 }
  const page = { now: storedAt, unknownAfter: storedAt, settleMs: 0, ...times, after: '', limit: 10 }
  const ids = [here.id, there.id].sort()
  const list = async (...args: Parameters<typeof listMeasuredEndpoints>) =>
    (await listMeasuredEndpoints(...args)).map(({ id }) => id)
  expect(await list(all, page)).toEqual(ids)
  expect(await list(all, { ...page, after: ids[0] as string })).toEqual([ids[1]])
  expect(await list(all, page, 1)).toEqual([here.id])
  expect(await list(all, page, undefined, 2)).toEqual([there.id])
  expect(await list(all, page, 2, 2)).toEqual([there.id])
  expect(await list(ofRegion, page)).toEqual([here.id])
  expect(await list(ofRegion, page, 1)).toEqual([here.id])
  expect(await list(ofRegion, page, undefined, 1)).toEqual([here.id])
  expect(await list(ofRegion, page, 1, 1)).toEqual([here.id])
  expect(await list(ofNothing, page)).toEqual([])
})
