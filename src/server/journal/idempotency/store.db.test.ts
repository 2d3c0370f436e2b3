// Statements of idempotency keys.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStores, type StoreWorld, storedAt } from '../../../../test/support/database/store-world.ts'
import { deleteOldKeys, findIdempotencyKey, hasOldKey, listEnds, putIdempotencyKey, updateAnswer } from './store.ts'

let world: StoreWorld
beforeAll(async () => {
  world = await openStores()
})
afterAll(() => world.close())

const idOf = (n: number) => Buffer.alloc(32, n)
const keyOf = (n: number) => ({
  id: idOf(n),
  request: Buffer.alloc(32),
  number: n,
  total_bytes: n * 100,
  entry: n,
  answer: null,
  etag: null,
  pending_until: storedAt,
  created_at: storedAt + n,
})

test('a key is stored, found until it is too old, replaced, answered and deleted [contract 7.once]', async () => {
  const { all, org, write } = world
  for (const n of [1, 2, 3]) await write((tx) => putIdempotencyKey(tx.forOrg(org), keyOf(n)))
  expect(await findIdempotencyKey(all, { id: idOf(2), since: storedAt })).toEqual({ org, ...keyOf(2) })
  expect(await findIdempotencyKey(all, { id: idOf(2), since: storedAt + 2 })).toBeUndefined()
  expect((await listEnds(all)).map(({ number, total_bytes }) => [number, total_bytes])).toEqual([
    [1, 100],
    [3, 300],
  ])

  await write((tx) => putIdempotencyKey(tx.forOrg(org), { ...keyOf(4), id: idOf(2) }))
  expect(await findIdempotencyKey(all, { id: idOf(2), since: storedAt })).toEqual({ org, ...keyOf(4), id: idOf(2) })

  const answer = Buffer.from('sealed')
  await all.telemetry((tx) => updateAnswer(tx, { id: idOf(3), answer, etag: '"1"' }))
  expect(await findIdempotencyKey(all, { id: idOf(3), since: storedAt })).toMatchObject({
    answer,
    etag: '"1"',
    pending_until: null,
  })

  const until = storedAt + 1
  expect(await hasOldKey(world.db.system, { until })).toBe(true)
  await write((tx) => deleteOldKeys(tx, { until, limit: 10 }))
  expect(await hasOldKey(world.db.system, { until })).toBe(false)
  expect((await listEnds(all)).map(({ number }) => number)).toEqual([3, 4])
})
