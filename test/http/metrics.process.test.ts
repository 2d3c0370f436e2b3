// Tests the metrics of the fleet, the names of all metrics, and from where they can be read. [contract D.10]
import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stateOfListed } from '../../src/contract/fleet/endpoints.ts'
import { putEndpoints } from '../support/database/endpoint-rows.ts'
import { need } from '../support/debian.ts'
import { newDevice } from '../support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { newPerson } from '../support/person.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
  need('promtool')
})
afterAll(() => harness.close())

/** Reads the values of a metric by the value of its only label. The cached count has become old; a slow one is returned next time. */
async function read(name: string): Promise<Record<string, number>> {
  harness.clock.advance(11_000)
  const { text } = await harness.call('GET', '/metrics')
  const lines = text.matchAll(new RegExp(`^${name}\\{\\w+="(\\w+)"\\} (\\d+)$`, 'gm'))
  return Object.fromEntries([...lines].map(([, label, value]) => [label, Number(value)]))
}

async function addRooms({ org, call }: TestOrg, count: number): Promise<number[]> {
  const first = (await call('POST', '/rooms', { body: { name: 'First' } })).body.id
  const ids = Array.from({ length: count - 1 }, (_, i) => first + 1000 + i)
  const none = { location_id: null, profile_id: null, dec_used_at: null }
  const values = ids.map((id) => ({
    ...{ org: org.key, id, version: 1, name: `Room ${id}`, dec_sealed: Buffer.alloc(1), dec_timeout: 0 },
    ...none,
  }))
  await harness.services.db.systemTransaction(({ kysely }) => kysely.insertInto('rooms').values(values).execute())
  harness.services.db.invalidateAll()
  return [first, ...ids]
}

test('sessions of people are counted until they end [contract 11.local]', async () => {
  const count = async () => {
    harness.clock.advance(11_000)
    return (await harness.call('GET', '/metrics')).text.match(/^roomkeeper_user_sessions (\d+)$/m)?.[1]
  }
  const org = await harness.newOrg()
  await expect.poll(count).toBe('0')
  const person = await newPerson(harness, org, { role: 'viewer' })
  await newPerson(harness, org, { role: 'viewer' })
  await expect.poll(count).toBe('2')
  await org.call('DELETE', `/users/${person.id}/sessions`)
  await expect.poll(count).toBe('1')
  harness.clock.advance(12 * 3_600_000)
  await expect.poll(count).toBe('0')
})

test('rooms are counted by the state that the API gives them, over all organisations and all slices', async () => {
  expect(await read('roomkeeper_rooms')).toEqual({ EMPTY: 0, OFFLINE: 0, UNKNOWN: 0, DEGRADED: 0, HEALTHY: 0 })
  const orgs = [await harness.newOrg(), await harness.newOrg()] as const
  for (const org of orgs) {
    const ids = await addRooms(org, 250)
    const rows = await putEndpoints(
      harness,
      org,
      ids.flatMap((room_id, i) =>
        Array.from({ length: i % 4 }, (_, k) => ({ room_id, connected: (i + k) % 3 ? 1 : 0 })),
      ),
    )
    const failed = rows.filter((_, i) => i % 40 === 0)
    await harness.services.db.systemTransaction(({ kysely }) =>
      kysely
        .insertInto('endpoint_configs')
        .values(failed.map(({ org, id }) => ({ org, endpoint_id: id, state: 'FAILED' })))
        .execute(),
    )
    const asleep = { rest: 'RESTING' as const, connection_time: 1 }
    await putEndpoints(harness, org, [{ connected: 0 }, { connected: 1 }, asleep, { ...asleep, room_id: ids[3] ?? 0 }])
  }
  const states: Record<string, number> = { EMPTY: 0, OFFLINE: 0, UNKNOWN: 0, DEGRADED: 0, HEALTHY: 0 }
  const endpoints = { true: 0, false: 0 }
  const endpointStates = { ONLINE: 0, UNKNOWN: 0, ASLEEP: 0, OFFLINE: 0 }
  for (const { call } of orgs) {
    for (const { state } of (await call('GET', '/rooms')).body.rooms) states[state] = (states[state] ?? 0) + 1
    for (const endpoint of (await call('GET', '/endpoints')).body.endpoints) {
      endpoints[endpoint.connected ? 'true' : 'false'] += 1
      endpointStates[stateOfListed(endpoint)] += 1
    }
  }
  // Only a restart of the service leaves rooms whose devices are expected back.
  const { UNKNOWN, ...others } = states
  expect(UNKNOWN).toBe(0)
  expect(Object.values(others).every((count) => count > 10)).toBe(true)
  await expect.poll(() => read('roomkeeper_rooms')).toEqual(states)
  await expect.poll(() => read('roomkeeper_endpoints')).toEqual(endpoints)
  expect(endpointStates.ASLEEP).toBeGreaterThan(0)
  expect(await read('roomkeeper_endpoint_states')).toEqual(endpointStates)
})

test('a device that connects and disconnects moves from one count to the other', async () => {
  const org = await harness.newOrg()
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const before = await read('roomkeeper_endpoints')
  const device = await newDevice(harness, org, { roomId })
  await expect.poll(async () => (await read('roomkeeper_endpoints')).true).toBe((before.true ?? 0) + 1)
  await device.close()
  const after = { true: before.true, false: (before.false ?? 0) + 1 }
  await expect.poll(() => read('roomkeeper_endpoints')).toEqual(after)
})

test('scrapes within ten seconds share one count', async () => {
  const before = await read('roomkeeper_rooms')
  const org = await harness.newOrg()
  await org.call('POST', '/rooms', { body: { name: 'Skog' } })
  const { text } = await harness.call('GET', '/metrics')
  expect(text).toContain(`roomkeeper_rooms{state="EMPTY"} ${before.EMPTY}\n`)
  await expect.poll(async () => (await read('roomkeeper_rooms')).EMPTY).toBe((before.EMPTY ?? 0) + 1)
})

test('all names pass promtool check metrics', async () => {
  const { text } = await harness.call('GET', '/metrics')
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
  expect(stdout + stderr).toBe('')
  expect(status).toBe(0)
})

test.each([
  ['Forwarded', 'for=127.0.0.1'],
  ['Via', '1.1 proxy'],
  ['X-Forwarded-For', '127.0.0.1'],
  ['X-Forwarded-Proto', 'https'],
  ['X-Forwarded-Host', 'localhost'],
  ['X-Real-IP', '127.0.0.1'],
])('a request with the header %s is not local, so it needs a key', async (name, value) => {
  expect((await harness.call('GET', '/metrics')).status).toBe(200)
  expect((await harness.call('GET', '/metrics', { headers: { [name]: value } })).status).toBe(401)
  const { key } = await harness.newOrg()
  expect((await harness.call('GET', '/metrics', { key, headers: { [name]: value } })).status).toBe(200)
})

test('a trusted proxy may name a client on loopback, which then counts as local', async () => {
  const behindProxy = await startHarness({ trustProxy: ['127.0.0.0/8'] })
  try {
    const statusWith = async (headers: Record<string, string>) =>
      (await behindProxy.call('GET', '/metrics', { headers })).status
    expect(await statusWith({})).toBe(200)
    expect(await statusWith({ 'X-Forwarded-For': '127.0.0.1', 'X-Forwarded-Proto': 'https' })).toBe(200)
    expect(await statusWith({ 'X-Forwarded-For': '203.0.113.9' })).toBe(401)
    expect(await statusWith({ 'X-Forwarded-For': '127.0.0.1, 203.0.113.9' })).toBe(401)
    expect(await statusWith({ Forwarded: 'for=127.0.0.1' })).toBe(401)
    expect(await statusWith({ Via: '1.1 proxy' })).toBe(401)
  } finally {
    await behindProxy.close()
  }
})
