// Statements with which the audit log is verified.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStores, type StoreWorld, storedAt } from '../../../../test/support/database/store-world.ts'
import { findEntryOutside, listAfter, waitForChanges } from './store.ts'

let world: StoreWorld
beforeAll(async () => {
  world = await openStores()
  const { org, put } = world
  const actor = { actor_type: 'SYSTEM', actor_id: 'test', actor_name: 'Test' }
  const target = { target_type: 'room', target_id: '1', target_name: 'Room 1' }
  const entry = { ...actor, ...target, timestamp: storedAt, category: 'structure', type: 'roomCreated', details: '{}' }
  for (const seq of [3, 1, 2]) {
    await put('audit_log', { org, seq, ...entry, request_id: null, ip: null, mac: Buffer.alloc(32), regions: null })
  }
})
afterAll(() => world.close())

test('entries are read in their order, in pages', async () => {
  const { all } = world
  expect((await listAfter(all, { seq: 1, limit: 10 })).map(({ seq }) => seq)).toEqual([2, 3])
  expect((await listAfter(all, { seq: 0, limit: 2 })).map(({ seq }) => seq)).toEqual([1, 2])
})

test('an entry with a number that the head does not know is found', async () => {
  expect(await findEntryOutside(world.all, { count: 3 })).toBeUndefined()
  expect(await findEntryOutside(world.all, { count: 1 })).toEqual({ seq: 2 })
})

test('a transaction that is not audited can make audited changes wait', async () => {
  expect(await world.all.telemetry((tx) => waitForChanges(tx))).toEqual([{ count: 0 }])
})
