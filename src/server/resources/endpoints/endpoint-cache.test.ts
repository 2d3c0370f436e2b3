// What is kept of endpoints is never older than the last write: after each, the answers are those of a server that keeps nothing.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/endpoint-rows.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'
import { enrolDevice, newDevice, type TestDevice } from '../../../../test/support/test-device.ts'
import { OrgReader } from '../../db/handles.ts'
import { EndpointListCache } from './endpoint-list-cache.ts'

let house: Harness
beforeAll(async () => {
  house = await startHarness()
})
afterAll(() => house.close())

/** Two rooms, a profile, and a connected device in the first. */
async function building(): Promise<{ org: TestOrg; device: TestDevice }> {
  const org = await house.newOrg()
  for (const name of ['Fjord', 'Fuji']) await org.call('POST', '/rooms', { body: { name } })
  await org.call('POST', '/profiles', { body: { name: 'Quiet', config: { nightMode: true } } })
  return { org, device: await newDevice(house, org, { roomId: 1 }) }
}

/** The list and every endpoint in it, with what they are called. */
async function answers(org: TestOrg) {
  const list = await org.call('GET', '/endpoints')
  const ids: string[] = list.body.endpoints.map((e: { id: string }) => e.id)
  const all = [list, ...(await Promise.all(ids.map((id) => org.call('GET', `/endpoints/${id}`))))]
  return all.map(({ status, body, headers }) => ({ status, body, etag: headers.get('etag') }))
}

/** Twice: what was read, and what was kept. */
async function expectFresh(org: TestOrg) {
  const [first, kept] = [await answers(org), await answers(org)]
  house.ground.db.invalidateAll()
  const fresh = await answers(org)
  expect(first).toEqual(fresh)
  expect(kept).toEqual(fresh)
  return fresh
}

const only = (body: { endpoints: object[] }) => body.endpoints[0]

test('after every kind of write the answers are new [contract 7.8] [contract 7.10]', async () => {
  const { org, device } = await building()
  const { id } = device
  const put = (path: string, body: object) => org.call('PUT', path, { body })
  const post = (path: string, body: object) => org.call('POST', path, { body })
  const steps: Record<string, [write: () => Promise<unknown>, shown: object]> = {
    'a status': [() => device.publish('status', { inCallStatus: 'ZOOM' }), { inCallStatus: 'ZOOM' }],
    'a room that is renamed': [() => put('/rooms/1', { name: 'Fjell' }), { roomName: 'Fjell' }],
    'a move': [() => post('/endpoints/move_paired', { endpointIds: [id], roomId: 2 }), { roomId: 2, roomName: 'Fuji' }],
    'the other room renamed': [() => put('/rooms/2', { name: 'Asama' }), { roomName: 'Asama' }],
    'a profile': [() => put(`/endpoints/${id}/profile`, { profileId: 1 }), {}],
    'the profile of its room': [() => put('/rooms/2/profile', { profileId: 1 }), {}],
    'a pairing': [() => device.publish('status', { pairingSerial: 'LEADER' }), { pairingSerial: 'LEADER' }],
    'its absence': [() => device.close(), { connected: false }],
    'another device': [() => enrolDevice(house, org, { roomId: 1 }), {}],
    'another room': [() => post('/rooms', { name: 'Attic' }), {}],
  }
  let before = await expectFresh(org)
  for (const [what, [write, shown]] of Object.entries(steps)) {
    await write()
    if (what === 'its absence') {
      await until('it is gone', async () => (await org.call('GET', `/endpoints/${id}`)).body.connected === false)
    }
    const after = await expectFresh(org)
    const mine = after[0]?.body.endpoints.find((e: { id: string }) => e.id === id)
    expect(mine, what).toMatchObject(shown)
    if (what !== 'another room') expect(after, what).not.toEqual(before)
    before = after
  }
  await org.call('DELETE', `/endpoints/${id}`)
  expect((await org.call('GET', `/endpoints/${id}`)).status).toBe(404)
  expect((await expectFresh(org))[0]?.body.endpoints).toHaveLength(1)
  await org.call('DELETE', '/rooms/1')
  expect((await expectFresh(org))[0]?.body.endpoints).toEqual([])
})

test('nobody gets what another organisation has kept', async () => {
  const [{ org, device }, other] = [await building(), await building()]
  await org.call('GET', `/endpoints/${device.id}`)
  expect((await other.org.call('GET', `/endpoints/${device.id}`)).status).toBe(404)
  await Promise.all([device.close(), other.device.close()])
})

test('who writes while others read sees the write, and so does everybody after', async () => {
  const { org, device } = await building()
  await putEndpoints(
    house,
    org,
    Array.from({ length: 600 }, () => ({ room_id: 1 })),
  )
  let isOver = false
  const reading = (async () => {
    while (!isOver)
      await Promise.all([1, 2].map(() => org.call('GET', '/endpoints', { headers: { 'if-none-match': '*' } })))
  })()
  for (let n = 0; n < 6; n++) {
    const name = `Room ${n}`
    const inCallStatus = n % 2 === 0 ? 'ZOOM' : 'NONE'
    const write =
      n % 3 === 0 ? device.publish('status', { inCallStatus }) : org.call('PUT', '/rooms/1', { body: { name } })
    await write
    const { endpoints } = (await org.call('GET', '/endpoints')).body
    const shown = endpoints.filter((e: { roomName: string; id: string; inCallStatus?: string }) =>
      n % 3 === 0 ? e.id !== device.id || e.inCallStatus === inCallStatus : e.roomName === name,
    )
    expect(shown.length, `write ${n}`).toBe(endpoints.length)
  }
  isOver = true
  await reading
  const list = async () => (await org.call('GET', '/endpoints')).body
  const kept = await list()
  house.ground.db.invalidateAll()
  expect(await list()).toEqual(kept)
  await device.close()
})

test('what is deleted while its row is on its way to the list is not kept', async () => {
  const { org, device } = await building()
  const { db } = house.ground
  let gate = Promise.resolve()
  const reader = new OrgReader(org.org.key, db.engine, {
    kysely: db.system.kysely,
    run: async (query, values) => {
      const rows = await db.system.run(query, values)
      await gate
      return rows
    },
  })
  const list = new EndpointListCache(reader)
  const idsIn = async () => {
    const { endpoints } = JSON.parse([(await list.answer()).body].flat().join(''))
    return endpoints.map((e: { id: string }) => e.id)
  }
  expect(await idsIn()).toEqual([device.id])
  const [row] = await putEndpoints(house, org, [{ room_id: 2 }])
  list.forget(row?.id as string)
  const { promise, resolve } = Promise.withResolvers<void>()
  gate = promise
  const under = idsIn()
  await org.call('GET', '/rooms/2')
  await org.call('DELETE', '/rooms/2')
  list.forgetRoom(2)
  resolve()
  await under
  expect(await idsIn()).toEqual([device.id])
  await device.close()
})

test('a list keeps its ETag until it changes, and the same again when it is as it was [contract 7.10]', async () => {
  const { org, device } = await building()
  const etag = async () => (await org.call('GET', '/endpoints')).headers.get('etag') as string
  const first = await etag()
  expect(first).toMatch(/^W\//)
  expect((await org.call('GET', '/endpoints', { headers: { 'if-none-match': first } })).status).toBe(304)
  expect((await org.call('HEAD', '/endpoints')).headers.get('etag')).toBe(first)
  await device.publish('status', { inCallStatus: 'ZOOM' })
  const second = await etag()
  expect(second).not.toBe(first)
  expect((await org.call('GET', '/endpoints', { headers: { 'if-none-match': first } })).status).toBe(200)
  await device.publish('status', { inCallStatus: null })
  expect(await etag()).toBe(first)
  expect(only((await org.call('GET', '/endpoints')).body)).toMatchObject({ id: device.id })
  await device.close()
})
