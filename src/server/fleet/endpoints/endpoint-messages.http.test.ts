// Messages about endpoints are written in the commit of their cause: presence, finished commands, outcomes of configs. [contract 10.delivery]

import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, hasOneNode, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'
import { insertNode } from '../../nodes/store.ts'
import { expireCommands } from '../commands/progress.ts'
import { clearEndedNodes } from './ended-nodes.ts'

const signal = new AbortController().signal
const events = [
  'endpoint.connected',
  'endpoint.disconnected',
  'operation.finished',
  'config.delivered',
  'config.failed',
] as const

let harness: Harness
let org: TestOrg
let roomId: number
beforeAll(async () => {
  harness = await startHarness()
})
/** A room in a location of a region, and a channel that wants everything about that region. */
beforeEach(async () => {
  org = await harness.newOrg()
  const create = async (path: string, body: object) => (await org.call('POST', path, { body })).body.id
  const regionId = await create('/regions', { name: 'Europe' })
  const locationId = await create('/locations', { name: 'Oslo', regionId })
  roomId = await create('/rooms', { name: 'Fjord', locationId })
  const url = 'https://hooks.example.org/T02'
  await create('/channels', { name: 'C', kind: 'webhook', url, events, regionIds: [regionId], enabled: false })
})
afterAll(() => harness.close())

const messages = async () =>
  (
    await harness.services.db.system.kysely
      .selectFrom('messages')
      .selectAll()
      .where('org', '=', org.org.key)
      .orderBy('number')
      .execute()
  ).map(({ data, ...row }) => ({ ...row, data: JSON.parse(data) }))
const types = async () => (await messages()).map(({ type }) => type)
const isConnected = async ({ id }: TestDevice) => (await org.call('GET', `/endpoints/${id}`)).body.connected

test('channels are told that a device connects and disconnects, and not that it is replaced by itself', async () => {
  const device = await newDevice(harness, org, { roomId })
  onTestFinished(() => device.close())
  await device.connect()
  harness.clock.advance(1000)
  device.drop()
  await until('it is disconnected', async () => !(await isConnected(device)))
  const told = await messages()
  expect(told.map(({ type }) => type)).toEqual(['endpoint.connected', 'endpoint.disconnected'])
  const { id, serial, model } = device
  const place = { roomId: 1, locationId: 1, regionId: 1 }
  expect(told[0]).toMatchObject({ order_key: `endpoint ${id}`, data: { endpoint: { id, serial, model, ...place } } })
  const name = `Bar ${serial.slice(-6)}`
  expect(told[1]?.data.endpoint).toEqual({ id, name, serial, model, ...place, at: expect.any(String), why: 'LOST' })
  await device.connect()
  expect((await types()).at(-1)).toBe('endpoint.connected')

  // A device elsewhere does not concern this channel.
  const other = (await org.call('POST', '/rooms', { body: { name: 'Elsewhere' } })).body.id
  const elsewhere = await newDevice(harness, org, { roomId: other })
  onTestFinished(() => elsewhere.close())
  expect(await types()).toHaveLength(3)
})

test('channels are told that a device of an ended node is disconnected if it is not back after a minute', async () => {
  const now = harness.clock.now()
  const node_id = (
    await harness.services.db.systemTransaction((on) =>
      insertNode(on, { name: 'elsewhere', process: 'elsewhere', version: '0', at: now }),
    )
  )?.id as number
  const back = await newDevice(harness, org, { roomId })
  onTestFinished(() => back.close())
  const [gone] = await putEndpoints(harness, org, [{ node_id, connection: 1, connection_time: now, room_id: roomId }])
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    await kysely.updateTable('endpoints').set({ node_id }).where('id', '=', back.id).execute()
    await kysely.updateTable('nodes').set({ state: 'dead', ended_at: now }).where('id', '=', node_id).execute()
  })
  harness.services.db.invalidateAll()
  await back.connect()
  const clear = (ms: number) => clearEndedNodes({ ...harness.services, clock: { now: () => now + ms } }, signal)
  await clear(59_999)
  expect(await types()).toEqual(['endpoint.connected'])
  await clear(60_000)
  await clear(60_000)
  const told = await messages()
  expect(told).toHaveLength(2)
  const endpoint = { id: gone?.id, why: 'SERVER_ENDED', at: new Date(now).toISOString() }
  expect(told[1]).toMatchObject({ type: 'endpoint.disconnected', data: { endpoint } })
})

// Only one node starts here.
test.runIf(hasOneNode)(
  'after a stop of the service, devices have a minute from its start before channels are told',
  async () => {
    const now = harness.clock.now()
    const endedAt = now - 180_000
    const { db, node } = harness.services
    const node_id = (
      await db.systemTransaction((on) =>
        insertNode(on, { name: 'stopped', process: 'stopped', version: '0', at: endedAt - 1000 }),
      )
    )?.id as number
    await putEndpoints(harness, org, [{ node_id, connection: 1, connection_time: endedAt - 500, room_id: roomId }])
    await db.systemTransaction(async ({ kysely }) => {
      await kysely.updateTable('nodes').set({ state: 'left', ended_at: endedAt }).where('id', '=', node_id).execute()
      await kysely
        .updateTable('nodes')
        .set({ started_at: now })
        .where('id', '=', node?.id ?? 0)
        .execute()
    })
    const clear = (ms: number) => clearEndedNodes({ ...harness.services, clock: { now: () => now + ms } }, signal)
    await clear(59_999)
    expect(await types()).toEqual([])
    await clear(60_000)
    expect(await types()).toEqual(['endpoint.disconnected'])
  },
)

test('channels are told the final state of each command once, however it ends', async () => {
  const device = await newDevice(harness, org, { roomId })
  onTestFinished(() => device.close())
  const send = async () => {
    const body = { message: 'Hello.', endpointIds: [device.id] }
    return (await org.call('POST', '/endpoints/send_message', { body })).body.operations[0].id as string
  }
  const finished = async () =>
    (await messages()).filter(({ type }) => type === 'operation.finished').map(({ data }) => data.operation)
  const done = await send()
  await device.next('operation')
  await device.publish('operation', { id: done, state: 'ACKNOWLEDGED' })
  expect(await finished()).toEqual([])
  await device.publish('operation', { id: done, state: 'SUCCEEDED' })
  await device.publish('operation', { id: done, state: 'SUCCEEDED' })
  expect(await finished()).toMatchObject([{ id: done, state: 'SUCCEEDED', endpointId: device.id }])
  const shown = (await org.call('GET', `/operations/${done}`)).body
  expect((await finished())[0]).toEqual({ ...shown, endpointName: `Bar ${device.serial.slice(-6)}` })

  await device.close()
  await until('it is disconnected', async () => !(await isConnected(device)))
  const cancelled = await send()
  await org.call('DELETE', `/operations/${cancelled}`)
  const expired = await send()
  await expireCommands({ ...harness.services, clock: { now: () => harness.clock.now() + 6 * 60_000 } })
  const unenrolled = await send()
  await org.call('DELETE', `/endpoints/${device.id}`)
  expect(await finished()).toMatchObject([
    { id: done, state: 'SUCCEEDED' },
    { id: cancelled, state: 'CANCELLED' },
    { id: expired, state: 'EXPIRED' },
    { id: unenrolled, state: 'CANCELLED' },
  ])

  const second = await newDevice(harness, org, { roomId, offline: true })
  const body = { message: 'Hello.', endpointIds: [second.id] }
  const last = (await org.call('POST', '/endpoints/send_message', { body })).body.operations[0].id
  await org.call('DELETE', `/rooms/${roomId}`)
  expect((await finished()).at(-1)).toMatchObject({ id: last, state: 'CANCELLED' })
})

test('channels are told of each device that is unenrolled with its room', async () => {
  const url = 'https://hooks.example.org/T03'
  const removals = { name: 'R', kind: 'webhook', url, events: ['endpoint.removed'], enabled: false }
  await org.call('POST', '/channels', { body: removals })
  const [first, second] = await putEndpoints(harness, org, [{ room_id: roomId }, { room_id: roomId }])
  expect((await org.call('DELETE', `/rooms/${roomId}`)).status).toBe(200)
  const told = (await messages()).map(({ type, data }) => ({ type, ...data.endpoint }))
  const place = { type: 'endpoint.removed', roomId: 1, locationId: 1, regionId: 1 }
  expect(told.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toMatchObject(
    [first, second]
      .map((endpoint) => ({ id: endpoint?.id, ...place }))
      .toSorted((a, b) => ((a.id ?? '') < (b.id ?? '') ? -1 : 1)),
  )
})

test('channels are told whether a device has taken or refused its config', async () => {
  const device = await newDevice(harness, org, { roomId })
  onTestFinished(() => device.close())
  const outcomes = async () => (await messages()).filter(({ type }) => type.startsWith('config.'))
  await org.call('POST', `/endpoints/${device.id}/config`, { body: { nightMode: true } })
  await device.next('config')
  await device.publish('config', { version: 1, config: { nightMode: true } })
  await device.publish('config', { version: 1, config: { nightMode: true } })
  await org.call('POST', `/endpoints/${device.id}/config`, { body: { nightMode: false } })
  await device.next('config')
  await device.publish('config', { version: 2, config: { nightMode: true }, rejected: { nightMode: 'not now' } })
  const config = { endpointId: device.id, version: 1, state: 'DELIVERED' }
  expect(await outcomes()).toMatchObject([
    { type: 'config.delivered', order_key: `endpoint ${device.id}`, data: { config } },
    {
      type: 'config.failed',
      data: { config: { version: 2, state: 'FAILED', error: expect.stringContaining('not now') } },
    },
  ])
  const endpointName = `Bar ${device.serial.slice(-6)}`
  expect((await outcomes())[0]?.data.config).toEqual({ ...config, endpointName })
})
