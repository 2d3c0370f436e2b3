// Tests the reach of a profile: its rooms and endpoints, and what they made of its settings.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const newRoom = async (org: TestOrg, name: string, locationId?: number): Promise<number> =>
  (await org.call('POST', '/rooms', { body: { name, locationId } })).body.id
const assign = (org: TestOrg, path: string, profileId: number | null = 1) =>
  org.call('PUT', `${path}/profile`, { body: { profileId } })
const reachOf = async (org: TestOrg, key = org.key) => (await org.call('GET', '/profiles/1/reach', { key })).body

async function newOrgWithProfile() {
  const org = await harness.newOrg()
  await org.call('POST', '/profiles', { body: { name: 'Quiet', config: { nightMode: true, brightness: 0.4 } } })
  await org.call('POST', '/profiles', { body: { name: 'Loud', config: {} } })
  return org
}

test('profilesReach has rooms and endpoints with the profile, and the state of their settings [contract 12.profiles]', async () => {
  const org = await newOrgWithProfile()
  const nothing = {
    roomCount: 0,
    endpointCount: 0,
    deliveredCount: 0,
    pendingCount: 0,
    rejectedCount: 0,
    notForDeviceCount: 0,
    rooms: [],
  }
  expect(await reachOf(org)).toEqual(nothing)
  expect((await org.call('GET', '/profiles/3/reach')).status).toBe(404)

  const [empty, fjord, skog, other] = [
    await newRoom(org, 'Empty'),
    await newRoom(org, 'Fjord'),
    await newRoom(org, 'Skog'),
    await newRoom(org, 'Other'),
  ]
  await assign(org, `/rooms/${empty}`)
  await assign(org, `/rooms/${fjord}`)
  await assign(org, `/rooms/${other}`, 2)
  const bar = await newDevice(harness, org, { roomId: fjord })
  const pad = await newDevice(harness, org, { roomId: fjord, model: 'NF19A1', offline: true })
  const picky = await newDevice(harness, org, { roomId: skog })
  const plain = await newDevice(harness, org, { roomId: skog, offline: true })
  await newDevice(harness, org, { roomId: other, offline: true })
  await assign(org, `/endpoints/${picky.id}`)
  await bar.publish('config', { version: (await bar.next('config')).version, config: { nightMode: true } })
  const { version } = await picky.next('config')
  await picky.publish('config', { version, config: {}, rejected: { brightness: 'no backlight' } })
  await bar.close()
  await picky.close()

  const reach = await reachOf(org)
  const endpoints = [
    { id: bar.id, model: 'NF19B1', serial: bar.serial, state: 'DELIVERED' },
    { id: pad.id, model: 'NF19A1', serial: pad.serial, state: 'PENDING' },
  ]
  const rejected = { id: picky.id, model: 'NF19B1', serial: picky.serial, state: 'FAILED' }
  expect(reach).toEqual({
    roomCount: 3,
    endpointCount: 3,
    deliveredCount: 1,
    pendingCount: 1,
    rejectedCount: 1,
    notForDeviceCount: 0,
    rooms: [
      {
        ...{ id: skog, name: 'Skog', assigned: false },
        endpoints: [{ ...rejected, error: 'brightness: no backlight' }],
      },
      { id: empty, name: 'Empty', assigned: true, endpoints: [] },
      { id: fjord, name: 'Fjord', assigned: true, endpoints: endpoints.sort((a, b) => (a.id < b.id ? -1 : 1)) },
    ],
  })
  expect(JSON.stringify(reach)).not.toContain(plain.id)
})

test('a caller who sees some regions is told the reach there [contract 11.access]', async () => {
  const org = await newOrgWithProfile()
  const regionId = (await org.call('POST', '/regions', { body: { name: 'Europe' } })).body.id
  const locationId = (await org.call('POST', '/locations', { body: { name: 'Oslo', regionId } })).body.id
  for (const room of [await newRoom(org, 'Fjord', locationId), await newRoom(org, 'Elsewhere')]) {
    await assign(org, `/rooms/${room}`)
    await newDevice(harness, org, { roomId: room, offline: true })
  }
  const key = await org.newKey({ scopes: ['read'], regionIds: [regionId] })
  expect(await reachOf(org, key)).toMatchObject({ roomCount: 1, endpointCount: 1, rooms: [{ name: 'Fjord' }] })
  expect(await reachOf(org)).toMatchObject({ roomCount: 2, endpointCount: 2 })
})

test('the reach of a profile lists 1000 rooms, and counts all of them [contract 12.profiles]', async () => {
  const org = await newOrgWithProfile()
  const first = await newRoom(org, 'Fjord')
  const room = await harness.services.db.system.kysely
    .selectFrom('rooms')
    .selectAll()
    .where('org', '=', org.org.key)
    .executeTakeFirstOrThrow()
  const rows = Array.from({ length: 1200 }, (_, i) => ({ ...room, id: first + 1 + i, profile_id: 1 }))
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    for (let i = 0; i < rows.length; i += 100)
      await kysely
        .insertInto('rooms')
        .values(rows.slice(i, i + 100))
        .execute()
  })
  const { roomCount, rooms } = await reachOf(org)
  expect(roomCount).toBe(1200)
  expect(rooms).toHaveLength(1000)
  expect(rooms.at(-1).id).toBe(first + 1000)
})
