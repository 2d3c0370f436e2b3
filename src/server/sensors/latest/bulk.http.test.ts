// The two bulk operations answer from memory: their answers equal those of the operations that read the database. [contract 5.2.bulk]
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enrolTestDevice, newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, hasOneNode, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { expectSoon } from '../../../../test/support/nodes/soon-known.ts'

const now = Date.UTC(2026, 2, 2, 9) / 1000
const devices: TestDevice[] = []
let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(now * 1000)
})
afterAll(async () => {
  for (const device of devices) await device.close()
  await harness.close()
})

/** Oslo (1) in Europe (1), Tokyo (2) in Asia (2); rooms Fjord (1) in Oslo, Fuji (2) in Tokyo, Cellar (3) nowhere. */
async function building(): Promise<TestOrg> {
  const org = await harness.newOrg()
  const post = (path: string, body: object) => org.call('POST', path, { body })
  for (const name of ['Europe', 'Asia']) await post('/regions', { name })
  for (const [name, regionId] of Object.entries({ Oslo: 1, Tokyo: 2 })) await post('/locations', { name, regionId })
  for (const [name, locationId] of Object.entries({ Fjord: 1, Fuji: 2, Cellar: 0 })) {
    await post('/rooms', { name, locationId })
  }
  return org
}

async function deviceIn(org: TestOrg, roomId: number, ...samples: object[]): Promise<TestDevice> {
  const device = await newDevice(harness, org, { roomId, model: 'NF21F1' })
  devices.push(device)
  if (samples.length > 0) await device.publish('sample', { samples })
  return device
}
const send = (device: TestDevice, ...samples: object[]) => device.publish('sample', { samples })

const bases = ['/v1', '/api/v1'] as const
const at = (org: TestOrg, path: string, base: string = bases[0]) =>
  harness.call('GET', `${base}/orgs/${org.id}${path}`, { key: org.key })
const bulk = async (org: TestOrg, noun: string, query = '', base?: string) =>
  (await at(org, `/${noun}/sensor${query}`, base)).body.data
const peopleOf = async (org: TestOrg, device: TestDevice) => {
  const data: { id: string; endpointData: { data: { people: number }[] } | null }[] = await bulk(org, 'endpoints')
  return data.find(({ id }) => id === device.id)?.endpointData?.data[0]?.people
}

const filters = ['', '?regionId=1', '?regionId=2', '?locationId=1', '?locationId=2', '?regionId=1&locationId=1']
const idsOf = (list: { id: string | number }[]) => list.map(({ id }) => id)

const expectPeople = (org: TestOrg, device: TestDevice, people: number | undefined) =>
  expectSoon(harness, () => peopleOf(org, device), people)

/** Checks on both bases that the bulk operations have the entries of the lists, each as the operation for one gives it. */
async function expectExact(org: TestOrg): Promise<void> {
  for (const base of bases) {
    for (const [noun, key] of [
      ['endpoints', 'endpointData'],
      ['rooms', 'roomData'],
    ] as const) {
      for (const filter of filters) {
        const listed = idsOf((await at(org, `/${noun}${filter}`, base)).body[noun])
        const given = idsOf(await bulk(org, noun, filter, base))
        expect(given, `${base} ${noun}${filter}`).toEqual(noun === 'endpoints' ? listed.toSorted() : listed)
      }
      const entries = []
      for (const { id } of await bulk(org, noun, '', base)) {
        const { status, body } = await at(org, `/${noun}/${id}/sensor`, base)
        entries.push({ id, [key]: status === 404 ? null : body[key] })
      }
      await expectSoon(harness, () => bulk(org, noun, '', base), entries)
    }
  }
}

test('a sample that was acknowledged is in the next bulk answer; a late or second one changes nothing', async () => {
  const org = await building()
  const [frame, other] = [await deviceIn(org, 1, { timestamp: now - 60, people: 1 }), await deviceIn(org, 1)]
  await expectPeople(org, frame, 1)
  await expectPeople(org, other, undefined)
  await send(frame, { timestamp: now - 30, people: 2, shutterClosed: true })
  await expectPeople(org, frame, 2)
  await expectPeople(org, other, undefined)
  await expectExact(org)
  await send(frame, { timestamp: now - 45, people: 8 })
  await send(frame, { timestamp: now - 30, people: 9 })
  await expectPeople(org, frame, 2)
  await send(other, { timestamp: now - 20, people: 0 }, { timestamp: now - 10, people: 5 })
  await expectPeople(org, frame, 2)
  await expectPeople(org, other, 5)
  const fjord = async () => {
    const [{ roomData }] = await bulk(org, 'rooms')
    return { people: roomData.data[0].people, shutterClosed: roomData.shutterClosed }
  }
  await expectSoon(harness, fjord, { people: 5, shutterClosed: true })
  await expectExact(org)
})

test('samples of one organisation are not in the answers of another', async () => {
  const [one, two] = [await building(), await building()]
  const [first, second] = [await deviceIn(one, 1), await deviceIn(two, 1)]
  await Promise.all([expectExact(one), expectExact(two)])
  await send(first, { timestamp: now, people: 7 })
  await expectPeople(one, first, 7)
  await expectPeople(two, second, undefined)
  await Promise.all([expectExact(one), expectExact(two)])
})

test('whatever is enrolled, moved, renamed, freed or deleted, the next bulk answer has it', async () => {
  const org = await building()
  const write = async (method: string, path: string, body?: object) => {
    expect((await org.call(method, path, { body })).status, `${method} ${path}`).toBe(200)
    await expectExact(org)
  }
  const frame = await deviceIn(org, 1, { timestamp: now, people: 1 })
  await expectExact(org)
  const second = await deviceIn(org, 2, { timestamp: now, people: 2 })
  await expectExact(org)
  const { answer } = await enrolTestDevice(harness, org, { roomId: 3, model: 'NF19B1' })
  expect(idsOf(await bulk(org, 'endpoints'))).toEqual([frame.id, second.id, answer.endpointId].sort())
  await expectExact(org)
  await write('POST', '/endpoints/move_paired', { endpointIds: [frame.id], roomId: 2 })
  await write('PUT', '/rooms/2', { name: 'Fuji', locationId: 1 })
  expect(idsOf(await bulk(org, 'endpoints', '?regionId=1'))).toEqual([frame.id, second.id].sort())
  await write('PUT', '/locations/1', { name: 'Oslo', regionId: 2 })
  expect(await bulk(org, 'endpoints', '?regionId=1')).toEqual([])
  await write('PUT', '/regions/2', { name: 'East' })
  await write('POST', '/rooms', { name: 'New', locationId: 2 })
  await write('DELETE', '/locations/1')
  expect(await bulk(org, 'endpoints', '?locationId=1')).toEqual([])
  await write('DELETE', `/endpoints/${frame.id}`)
  expect(idsOf(await bulk(org, 'endpoints'))).toEqual([second.id, answer.endpointId].sort())
  await write('DELETE', '/rooms/2')
  expect(await bulk(org, 'endpoints')).toEqual([{ id: answer.endpointId, endpointData: null }])
})

test('a sample expires for its room without any write [contract 5.2.aggregate]', async () => {
  const org = await building()
  await deviceIn(org, 1, { timestamp: now - 800, people: 1 })
  await deviceIn(org, 1, { timestamp: now - 700, people: 3 })
  const people = async () => (await bulk(org, 'rooms'))[0].roomData?.data[0].people
  expect(await people()).toBe(3)
  harness.clock.advance(200_000)
  expect(await people()).toBe(3)
  await expectExact(org)
  harness.clock.advance(1_000)
  expect(await people()).toBeUndefined()
  await expectExact(org)
  harness.clock.fix(now * 1000)
})

test('the first answers are complete while samples arrive and other clients send the same requests', async () => {
  const org = await building()
  const frames = await Promise.all(Array.from({ length: 8 }, (_, i) => deviceIn(org, 1 + (i % 3))))
  const rounds = [...frames.entries()].map(async ([i, frame]) => {
    for (let n = 0; n < 5; n++) {
      await send(frame, { timestamp: now - 100 + n, people: i + n })
      await expectPeople(org, frame, i + n)
    }
  })
  await Promise.all(rounds)
  await expectExact(org)
})

test('while nothing changes the ETag stays and the answer is a 304; a sample changes it [contract 7.11]', async () => {
  const org = await building()
  const frame = await deviceIn(org, 1, { timestamp: now - 60, people: 1 })
  for (const path of ['/endpoints/sensor', '/rooms/sensor']) {
    const read = (headers?: Record<string, string>) => org.call('GET', path, headers && { headers })
    // With several nodes, each has the last sample after a second.
    if (!hasOneNode) await sleep(1000)
    const etag = (await read()).headers.get('etag') as string
    const statusOf = async () => (await read({ 'if-none-match': etag })).status
    await expectSoon(harness, statusOf, 304)
    expect((await read({ 'if-none-match': etag })).text).toBe('')
    const time = path === '/endpoints/sensor' ? now - 30 : now - 15
    await send(frame, { timestamp: time, people: 1 })
    await expectSoon(harness, statusOf, 200)
    expect((await read()).headers.get('etag')).not.toBe(etag)
  }
})
