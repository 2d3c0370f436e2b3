// The cache of rooms and endpoints behind the bulk answers: which writes change it, and which statements it saves.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { newDevice } from '../../../../test/support/devices/test-device.ts'
import { engine, type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'
import { RoomPlanCache } from './room-plan.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

async function newOrg(): Promise<TestOrg> {
  const org = await harness.newOrg()
  await org.call('POST', '/regions', { body: { name: 'Europe' } })
  await org.call('POST', '/locations', { body: { name: 'Oslo', regionId: 1 } })
  for (const name of ['Fjord', 'Fuji']) await org.call('POST', '/rooms', { body: { name, locationId: 1 } })
  return org
}

test('while nothing changes, a bulk answer reads none of the tables that it shows', async () => {
  const org = await newOrg()
  await putEndpoints(harness, org, [{ room_id: 1 }])
  const read = () => Promise.all(['/endpoints/sensor', '/rooms/sensor'].map((path) => org.call('GET', path)))
  const before = await read()
  const rename = (from: string, to: string) =>
    sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(harness.services.db.schema)
  // On PostgreSQL other nodes write too: the audit heads tell of that, and samples are compared once a second.
  const otherTables = engine === 'sqlite' ? ['samples_latest', 'audit_heads'] : []
  const tables = ['endpoints', 'rooms', 'locations', ...otherTables]
  for (const table of tables) await rename(table, `${table}_elsewhere`)
  const during = await read()
  for (const table of tables) await rename(`${table}_elsewhere`, table)
  expect(during.map(({ status, text }) => [status, text])).toEqual(before.map(({ text }) => [200, text]))
})

test('a plan stays while devices connect, report and leave, and while another organisation changes', async () => {
  const [org, another] = [await newOrg(), await newOrg()]
  const plans = new RoomPlanCache(harness.services.db)
  const device = await newDevice(harness, org, { roomId: 1, offline: true })
  const shown = async () => (await org.call('GET', `/endpoints/${device.id}`)).body
  // On PostgreSQL the first answer from a cache drops what was cached before the node began to count commits.
  for (let i = 0; i < 2; i++) await shown()
  const plan = await plans.plan(org.org.key)
  await device.connect()
  await device.publish('status', { inCallStatus: 'ZOOM' })
  expect(await shown()).toMatchObject({ connected: true, inCallStatus: 'ZOOM' })
  await device.close()
  await until('the device is disconnected', async () => !(await shown()).connected)
  expect((await org.call('PUT', '/regions/1', { body: { name: 'North' } })).status).toBe(200)
  expect((await another.call('POST', '/rooms', { body: { name: 'Cellar' } })).status).toBe(200)
  expect(await plans.plan(org.org.key)).toBe(plan)
})

test('a plan is loaded again after each write that moves, adds or removes a room or an endpoint', async () => {
  const org = await newOrg()
  const plans = new RoomPlanCache(harness.services.db)
  const [endpoint] = await putEndpoints(harness, org, [{ room_id: 1 }])
  let plan = await plans.plan(org.org.key)
  for (const [method, path, body] of [
    ['POST', '/endpoints/move_paired', { endpointIds: [endpoint?.id], roomId: 2 }],
    ['PUT', '/rooms/2', { name: 'Fuji', locationId: 0 }],
    ['PUT', '/locations/1', { name: 'Oslo', regionId: 0 }],
    ['POST', '/rooms', { name: 'Cellar' }],
    ['DELETE', '/rooms/1', undefined],
    ['DELETE', `/endpoints/${endpoint?.id}`, undefined],
  ] as const) {
    expect((await org.call(method, path, { body })).status, `${method} ${path}`).toBe(200)
    const next = await plans.plan(org.org.key)
    expect(next, `${method} ${path}`).not.toBe(plan)
    plan = next
  }
  expect(plan).toEqual({
    rooms: [
      { id: 2, location: null, region: null, endpoints: [], presenceOnly: [] },
      { id: 3, location: null, region: null, endpoints: [], presenceOnly: [] },
    ],
    endpoints: [],
  })
})

test('a plan that was being loaded during a write is not used after it', async () => {
  const org = await newOrg()
  const plans = new RoomPlanCache(harness.services.db)
  await putEndpoints(harness, org, Array(5000).fill({ room_id: 1 }))
  const started = plans.plan(org.org.key)
  // The rooms are read in the first page, so the load that has started cannot have this one.
  const { status, body } = await org.call('POST', '/rooms', { body: { name: 'New', locationId: 1 } })
  expect(status).toBe(200)
  const next = plans.plan(org.org.key)
  expect(next).not.toBe(started)
  expect((await next).rooms.map(({ id }) => id)).toContain(body.id)
  expect((await started).endpoints).toHaveLength(5000)
  expect(await plans.plan(org.org.key)).toBe(await next)
})
