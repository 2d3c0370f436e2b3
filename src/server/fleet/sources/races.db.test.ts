// Decisions of people and reports of gateways about the same source at the same time, on both databases. [contract 15.devices]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newSourceSite, type SourceSite } from '../../../../test/support/devices/source-site.ts'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import { listAbsences } from './absence-store.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const keys = Array.from({ length: 50 }, (_, i) => `device-${i}`)
const found = keys.map((key) => ({ key, model: 'NF19B1' }))
const allIn = (roomId: number, order = keys) => order.map((key) => ({ key, state: 'ADOPTED', roomId }))
const statuses = async (...replies: Promise<{ status: number; text: string }>[]) =>
  (await Promise.all(replies)).map(({ status }) => status)

/** Each device is adopted once, into a room that is there. */
async function expectSound({ devices, gateway, source, call }: SourceSite): Promise<void> {
  const listed = await devices()
  const items = (await gateway.list()).devices.filter(({ sourceId }) => sourceId === source)
  expect(new Set(items.map(({ sourceKey }) => sourceKey)).size).toBe(items.length)
  expect(listed.filter(({ state }) => state === 'ADOPTED')).toHaveLength(items.length)
  const rooms = new Set((await call('GET', '/rooms')).body.rooms.map(({ id }: { id: number }) => id))
  for (const { roomId } of items) expect(rooms).toContain(roomId)
}

test('adoptions of the same devices at the same time end with one item for each, all of one request', async () => {
  const site = await newSourceSite(harness)
  const { rooms, decide } = site
  await site.gateway.found(site.source, found)
  const both = [decide(...allIn(rooms[0])), decide(...allIn(rooms[1], keys.toReversed()))]
  expect(await statuses(...both)).toEqual([200, 200])
  await expectSound(site)
  expect(new Set((await site.devices()).map(({ roomId }) => roomId)).size).toBe(1)
})

test('an adoption beside the deletion of its room is refused, or its devices are found again', async () => {
  const site = await newSourceSite(harness)
  const { rooms, decide, call } = site
  await site.gateway.found(site.source, found)
  for (const roomId of rooms) {
    const [adopted, deleted] = await statuses(decide(...allIn(roomId)), call('DELETE', `/rooms/${roomId}`))
    expect([200, 400]).toContain(adopted)
    expect(deleted).toBe(200)
    await expectSound(site)
    expect(new Set((await site.devices()).map(({ state }) => state))).toEqual(new Set(['FOUND']))
  }
})

test('an adoption beside sourcesDelete leaves no item behind', async () => {
  const site = await newSourceSite(harness)
  const { rooms, decide, call, source } = site
  await site.gateway.found(site.source, found)
  const [adopted, deleted] = await statuses(decide(...allIn(rooms[0])), call('DELETE', `/sources/${source}`))
  expect([200, 404]).toContain(adopted)
  expect(deleted).toBe(200)
  expect((await site.gateway.list()).devices).toEqual([])
})

test('reports beside decisions keep both, in whatever order they name the devices', async () => {
  const site = await newSourceSite(harness)
  const { gateway, source, decide } = site
  await gateway.found(source, found)
  const named = (name: string) => found.map((device) => ({ ...device, name }))
  const replies = Array.from({ length: 4 }, (_, i) => [
    gateway.found(source, i % 2 === 0 ? named(`Name ${i}`) : named(`Name ${i}`).toReversed()),
    decide(...keys.toReversed().map((key) => ({ key, state: i % 2 === 0 ? 'EXCLUDED' : 'FOUND' }))),
  ]).flat()
  expect(new Set(await statuses(...replies))).toEqual(new Set([200]))
  const listed = await site.devices()
  expect(listed).toHaveLength(keys.length)
  for (const { name, state } of listed) {
    expect(name).toMatch(/^Name \d$/)
    expect(['EXCLUDED', 'FOUND']).toContain(state)
  }
  expect(new Set(listed.map(({ state }) => state)).size).toBe(1)
})

test('a source has one absence at a time, of its gateway and of people who change it', async () => {
  const site = await newSourceSite(harness)
  const { gateway, source, call } = site
  const revision = (await gateway.list()).sources[0]?.revision ?? 0
  for (let i = 0; i < 5; i++) {
    const state = i % 2 === 0 ? 'FAILING' : 'CONNECTED'
    await Promise.all([
      gateway.device.publish('sources', { sources: [{ id: source, revision: revision + i, state }] }),
      call('PUT', `/sources/${source}`, { body: { key: `horse ${i}` } }),
    ])
    const absences = await listAbsences(harness.services.db.forOrg(site.org.key), { source, from: 0 })
    expect(absences.filter(({ until }) => until === null)).toHaveLength(1)
  }
  await gateway.reportSource(source, 'CONNECTED')
  const absences = await listAbsences(harness.services.db.forOrg(site.org.key), { source, from: 0 })
  expect(absences.filter(({ until }) => until === null)).toEqual([])
})
