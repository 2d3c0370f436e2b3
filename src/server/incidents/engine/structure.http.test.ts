// Tests when the engine reads the places of endpoints again. [contract 10.cause]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { StructureCache } from './structure.ts'
import type { Finding } from './types.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

function newCache({ org, id }: TestOrg) {
  const { db, clock } = harness.services
  const cache = new StructureCache(db)
  const named = { key: org.key, id, name: 'Test', timezone: 'UTC' }
  const read = (findings: readonly Finding[] = []) => cache.read(db.forOrg(org.key), named, clock.now(), findings)
  const refresh = () => cache.refresh(db.forOrg(org.key), named, harness.services.reconnects.current)
  return { read, refresh, noteRooms: (key: number) => db.noteWritten([{ table: 'rooms', org: key, where: {} }]) }
}

test('a write during a read keeps only the structure of its own organisation out of the cache', async () => {
  const [org, neighbour] = [await harness.newOrg(), await harness.newOrg()]
  const { read, noteRooms } = newCache(org)
  const first = read()
  noteRooms(org.org.key)
  const second = read()
  noteRooms(neighbour.org.key)
  expect(await second).not.toBe(await first)
  expect(await read()).toBe(await second)
})

test('a device that connected for the first time at another node counts for its room as soon as it is offline', async () => {
  const org = await harness.newOrg()
  const [endpoint] = await putEndpoints(harness, org, [{ connection_time: null }])
  const id = endpoint?.id as string
  const { read } = newCache(org)
  const before = await read()
  expect(before.endpoints.get(id)?.wasConnected).toBe(false)
  harness.clock.advance(1000)
  const since = harness.clock.now()
  // The writes of devices at another node are not announced to this one.
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely.updateTable('endpoints').set({ connection_time: since }).where('id', '=', id).execute(),
  )
  expect(await read()).toBe(before)
  const subject = { type: 'endpoint', id } as const
  const finding: Finding = {
    rule: 'device.offline',
    subject,
    since,
    maturedAt: null,
    clearSince: null,
    incidentId: null,
    detail: {},
  }
  const after = await read([finding])
  expect(after.endpoints.get(id)?.wasConnected).toBe(true)
  expect(await read([finding])).toBe(after)
})

test('a device that connected for the first time at another node counts for its room when another device is offline', async () => {
  const org = await harness.newOrg()
  const [endpoint] = await putEndpoints(harness, org, [{ connection_time: null }])
  const id = endpoint?.id as string
  const { read, refresh } = newCache(org)
  const before = await read()
  expect(await refresh()).toBe(before)
  harness.clock.advance(1000)
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely
      .updateTable('endpoints')
      .set({ connection_time: harness.clock.now(), node_id: harness.services.node?.id ?? null })
      .where('id', '=', id)
      .execute(),
  )
  expect(await read()).toBe(before)
  const after = await refresh()
  expect(after.endpoints.get(id)?.wasConnected).toBe(true)
  expect(await refresh()).toBe(after)
})
