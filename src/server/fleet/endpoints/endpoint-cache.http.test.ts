// Tests that cached answers are never older than the last write: they equal those of an empty cache.

import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { enrolTestDevice, newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'
import { RegionAccess } from '../../core/region-access.ts'
import { Handle, OrgReader } from '../../db/handles.ts'
import { EndpointListCache } from './endpoint-list-cache.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** Makes two rooms, a profile, and a connected device in the first room. */
async function makeBuilding(): Promise<{ org: TestOrg; device: TestDevice }> {
  const org = await harness.newOrg()
  for (const name of ['Fjord', 'Fuji']) await org.call('POST', '/rooms', { body: { name } })
  await org.call('POST', '/profiles', { body: { name: 'Quiet', config: { nightMode: true } } })
  return { org, device: await newDevice(harness, org, { roomId: 1 }) }
}

/** Reads the list and every endpoint in it, with their ETags. */
async function readAnswers(org: TestOrg) {
  const list = await org.call('GET', '/endpoints')
  const ids: string[] = list.body.endpoints.map((e: { id: string }) => e.id)
  const all = [list, ...(await Promise.all(ids.map((id) => org.call('GET', `/endpoints/${id}`))))]
  return all.map(({ status, body, headers }) => ({ status, body, etag: headers.get('etag') }))
}

/** Reads twice, from the database and from the cache, and compares both with an empty cache. */
async function expectFresh(org: TestOrg) {
  const [first, cached] = [await readAnswers(org), await readAnswers(org)]
  harness.services.db.invalidateAll()
  const fresh = await readAnswers(org)
  expect(first).toEqual(fresh)
  expect(cached).toEqual(fresh)
  return fresh
}

/** Answers the next config that the device receives. */
async function reportConfig(device: TestDevice, rejected: Record<string, string> = {}) {
  const { version, config } = await device.next('config')
  await device.publish('config', { version, config, rejected })
}

const only = (body: { endpoints: object[] }) => body.endpoints[0]

test('after every kind of write the answers are new [contract 7.8] [contract 7.10]', async () => {
  const { org, device } = await makeBuilding()
  const { id } = device
  const put = (path: string, body: object) => org.call('PUT', path, { body })
  const post = (path: string, body: object) => org.call('POST', path, { body })
  const steps: Record<string, [write: () => Promise<unknown>, shown: object]> = {
    'a status': [() => device.publish('status', { inCallStatus: 'ZOOM' }), { inCallStatus: 'ZOOM' }],
    'a room that is renamed': [() => put('/rooms/1', { name: 'Fjell' }), { roomName: 'Fjell' }],
    'a move': [() => post('/endpoints/move_paired', { endpointIds: [id], roomId: 2 }), { roomId: 2, roomName: 'Fuji' }],
    'the other room renamed': [() => put('/rooms/2', { name: 'Asama' }), { roomName: 'Asama' }],
    'a profile': [
      () => put(`/endpoints/${id}/profile`, { profileId: 1 }),
      { profileId: 1, configState: 'PENDING', connectionTime: expect.any(String) },
    ],
    'a config that the device has': [() => reportConfig(device), { configState: 'DELIVERED' }],
    'a setting': [() => post(`/endpoints/${id}/config`, { brightness: 0.4 }), { configState: 'PENDING' }],
    'a config that the device refused': [
      () => reportConfig(device, { brightness: 'broken' }),
      { configState: 'FAILED' },
    ],
    'an address': [() => device.publish('status', { localIpAddress: '10.0.0.7' }), { localIpAddress: '10.0.0.7' }],
    'the profile of its room': [() => put('/rooms/2/profile', { profileId: 1 }), {}],
    'a pairing': [() => device.publish('status', { pairingSerial: 'LEADER' }), { pairingSerial: 'LEADER' }],
    'its absence': [() => device.close(), { connected: false }],
    'another device': [() => enrolTestDevice(harness, org, { roomId: 1 }), {}],
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

test('no organisation gets an answer that was cached for another', async () => {
  const [{ org, device }, other] = [await makeBuilding(), await makeBuilding()]
  await org.call('GET', `/endpoints/${device.id}`)
  expect((await other.org.call('GET', `/endpoints/${device.id}`)).status).toBe(404)
  await Promise.all([device.close(), other.device.close()])
})

test('a list reads again only the endpoints that were written, and none of another organisation', async () => {
  const [{ org, device }, other] = [await makeBuilding(), await makeBuilding()]
  const rows = await putEndpoints(
    harness,
    org,
    Array.from({ length: 600 }, () => ({ room_id: 1 })),
  )
  const [{ id: one }] = rows as [(typeof rows)[number]]
  /** Reads both lists, and returns how many endpoints of each were read from the database. */
  const countRead = async () => {
    const rowCounts = { mine: 0, others: 0 }
    const run = vi.spyOn(Handle.prototype, 'run')
    try {
      await Promise.all([org, other.org].map((building) => building.call('GET', '/endpoints')))
      const reads = run.mock.results.map(({ value }, i) => ({
        value,
        query: run.mock.calls[i]?.[0],
        on: run.mock.contexts[i],
      }))
      for (const { value, query, on } of reads) {
        if (!query?.sql.includes('config_state') || !(on instanceof OrgReader)) continue
        const { length } = await value
        if (on.org === org.org.key) rowCounts.mine += length
        if (on.org === other.org.org.key) rowCounts.others += length
      }
    } finally {
      run.mockRestore()
    }
    return rowCounts
  }
  expect(await countRead()).toEqual({ mine: 601, others: 1 })
  // The first status of the devices may still be written.
  await until('both lists are cached', async () => isDeepStrictEqual(await countRead(), { mine: 0, others: 0 }))
  const body = { brightness: 0.5 }
  const steps: Record<string, [write: () => Promise<{ status: number }>, mine: number]> = {
    'a setting': [() => org.call('POST', `/endpoints/${device.id}/config`, { body }), 1],
    'the next setting': [() => org.call('POST', `/endpoints/${one}/config`, { body: { nightMode: true } }), 1],
  }
  for (const [what, [write, mine]] of Object.entries(steps)) {
    expect((await write()).status, what).toBe(200)
    expect(await countRead(), what).toEqual({ mine, others: 0 })
  }
  const list = async () => (await org.call('GET', '/endpoints')).body
  const cached = await list()
  harness.services.db.invalidateAll()
  expect(cached).toEqual(await list())
  await Promise.all([device.close(), other.device.close()])
})

test('a caller that writes while others read sees its write, and so do all later readers', async () => {
  const { org, device } = await makeBuilding()
  await putEndpoints(
    harness,
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
  const cached = await list()
  harness.services.db.invalidateAll()
  expect(await list()).toEqual(cached)
  await device.close()
})

test('an endpoint that is deleted while its row is read does not stay in the list', async () => {
  const { org, device } = await makeBuilding()
  const { db } = harness.services
  let gate = Promise.resolve()
  const reader = new OrgReader({ org: org.org.key, access: RegionAccess.everything }, db.engine, {
    kysely: db.system.kysely,
    run: async (query, values) => {
      const rows = await db.system.run(query, values)
      await gate
      return rows
    },
  })
  const list = new EndpointListCache(reader, { times: () => harness.services.reconnects.current, onRead: () => {} })
  const idsIn = async () => {
    const { endpoints } = JSON.parse([(await list.answer()).body].flat().join(''))
    return endpoints.map((e: { id: string }) => e.id)
  }
  expect(await idsIn()).toEqual([device.id])
  const [row] = await putEndpoints(harness, org, [{ room_id: 2 }])
  list.invalidate(row?.id as string)
  const { promise, resolve } = Promise.withResolvers<void>()
  gate = promise
  const under = idsIn()
  await org.call('GET', '/rooms/2')
  await org.call('DELETE', '/rooms/2')
  list.invalidateRoom(2)
  resolve()
  await under
  expect(await idsIn()).toEqual([device.id])
  await device.close()
})

test('a list keeps its ETag until it changes, and the same again when it is as it was [contract 7.10]', async () => {
  const { org, device } = await makeBuilding()
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
