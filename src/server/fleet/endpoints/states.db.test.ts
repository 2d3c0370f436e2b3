// The states of endpoints: asleep, unknown behind a gateway, and what rooms, events and the history make of them. [contract 8.state]
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { putBehindGateway } from '../../../../test/support/devices/gateway.ts'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { follow } from '../../../../test/support/event-follower.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'
import { hourMs, minuteMs, secondMs } from '../../../contract/durations.ts'
import { sinceOfListed, stateOfListed } from '../../../contract/fleet/endpoints.ts'
import { insertNode } from '../../nodes/store.ts'
import { clearEndedNodes } from './ended-nodes.ts'
import { endLongSleep } from './oversleep.ts'

const settleMs = 10 * minuteMs
const iso = (ms: number) => new Date(ms).toISOString()

let harness: Harness
let org: TestOrg
let room: number
let now = Date.UTC(2026, 4, 4, 8)
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())
beforeEach(async () => {
  // Time only goes forward, because the service refuses messages from the future.
  now = Math.max(now, harness.clock.now()) + hourMs
  harness.clock.fix(now)
  org = await harness.newOrg()
  room = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
})

const device = async (status: object): Promise<TestDevice> => {
  const made = await newDevice(harness, org, { roomId: room, model: 'PX-900' })
  await made.publish('status', status)
  return made
}

/** Reads an endpoint in each answer that shows it, and compares them. */
async function stateOf({ id }: TestDevice) {
  const { state, since, connected } = (await org.call('GET', `/endpoints/${id}`)).body
  const find = async (path: string) =>
    (await org.call('GET', path)).body.endpoints.find((one: { id: string }) => one.id === id)
  expect(await find(`/rooms/${room}`)).toMatchObject({ state, connected, since })
  const listed = await find('/endpoints')
  expect([stateOfListed(listed), listed.connected, sinceOfListed(listed)]).toEqual([state, connected, since])
  return { state, since }
}
const roomState = async () => {
  const { state, asleepCount = 0, unknownCount = 0 } = (await org.call('GET', '/rooms')).body.rooms[0]
  expect((await org.call('GET', `/rooms/${room}`)).body.state).toBe(state)
  return { state, asleepCount, unknownCount }
}

/** Ends the connection of a device, and waits until the service has stored that. */
async function leave(device: TestDevice): Promise<number> {
  await device.close()
  const { id } = device
  await until('the disconnect is stored', async () => !(await org.call('GET', `/endpoints/${id}`)).body.connected)
  return harness.clock.now()
}

test.for([
  { name: 'in standby', status: { sleeps: true, power: 'STANDBY' }, state: 'ASLEEP', rooms: 'HEALTHY' },
  { name: 'switched off', status: { sleeps: true, power: 'OFF' }, state: 'ASLEEP', rooms: 'HEALTHY' },
  { name: 'that never reports its power', status: { sleeps: true }, state: 'ASLEEP', rooms: 'HEALTHY' },
  { name: 'that is on', status: { sleeps: true, power: 'ON' }, state: 'OFFLINE', rooms: 'OFFLINE' },
  { name: 'in standby that does not sleep', status: { power: 'STANDBY' }, state: 'OFFLINE', rooms: 'OFFLINE' },
])('a device $name that leaves is $state, and its room $rooms', async ({ status, state, rooms }) => {
  const display = await device(status)
  harness.clock.advance(hourMs)
  const at = await leave(display)
  harness.clock.advance(hourMs)
  expect(await stateOf(display)).toEqual({ state, since: iso(at) })
  expect((await roomState()).state).toBe(rooms)
})

test('a device that is on takes its sleep back with the next status, and a person can say that it sleeps', async () => {
  const display = await device({ sleeps: true, power: 'OFF' })
  await display.publish('status', { power: 'ON' })
  await leave(display)
  expect((await stateOf(display)).state).toBe('OFFLINE')
  await display.connect()
  await display.publish('status', { power: 'OFF', sleeps: false })
  await leave(display)
  expect((await stateOf(display)).state).toBe('OFFLINE')
  await org.call('PUT', `/endpoints/${display.id}`, { body: { sleeps: true } })
  expect((await stateOf(display)).state).toBe('ASLEEP')
  await org.call('PUT', `/endpoints/${display.id}`, { body: { sleeps: null } })
  expect((await stateOf(display)).state).toBe('OFFLINE')
})

test('names and readings that a device reports are stored', async () => {
  const projector = await device({ name: 'Projector', readings: [{ name: 'lampHours', value: 1200, unit: 'h' }] })
  await projector.publish('status', { name: 'Beamer', readings: [{ name: 'lampHours', value: 1201, unit: 'h' }] })
  expect((await org.call('GET', `/endpoints/${projector.id}`)).body).toMatchObject({
    name: 'Beamer',
    readings: [{ name: 'lampHours', value: 1201, unit: 'h' }],
  })
})

test('a room is judged by the devices that are awake', async () => {
  const [display, codec] = [await device({ sleeps: true, power: 'OFF' }), await device({})]
  await leave(display)
  expect(await roomState()).toEqual({ state: 'HEALTHY', asleepCount: 1, unknownCount: 0 })
  await leave(codec)
  expect((await roomState()).state).toBe('OFFLINE')
})

test('a device that sleeps for too long goes offline, which its history shows', async () => {
  const display = await device({ sleeps: true, power: 'STANDBY' })
  const connectedAt = harness.clock.now()
  harness.clock.advance(hourMs)
  const asleepAt = await leave(display)
  harness.clock.advance(335 * hourMs)
  await endLongSleep(harness.services, org.org.key, 336 * hourMs)
  expect(await stateOf(display)).toEqual({ state: 'ASLEEP', since: iso(asleepAt) })
  const reader = await follow(org.client, { types: 'status' })
  harness.clock.advance(hourMs)
  await endLongSleep(harness.services, org.org.key, 336 * hourMs)
  expect(await reader.next('status')).toMatchObject({ endpointId: display.id, roomIds: [room] })
  const oversleptAt = harness.clock.now()
  expect(await stateOf(display)).toEqual({ state: 'OFFLINE', since: iso(oversleptAt) })
  harness.clock.advance(hourMs)
  const history = (await org.call('GET', `/endpoints/${display.id}/connections?from=${iso(connectedAt)}`)).body
  expect(history).toMatchObject({
    outages: 1,
    longestOutageSeconds: 3600,
    onlineShare: 0.5,
    spans: [{ followedBy: 'ASLEEP' }],
    gaps: [{ state: 'ASLEEP', from: iso(asleepAt), to: iso(oversleptAt) }],
  })
  await display.connect()
  expect((await stateOf(display)).state).toBe('ONLINE')
  await leave(display)
  expect((await stateOf(display)).state).toBe('ASLEEP')
})

test('devices whose gateway is away are unknown until it is back and has settled; a device that left with it may sleep', async () => {
  const [gateway, codec, display, lost] = [
    await device({ kind: 'GATEWAY' }),
    await device({}),
    await device({ sleeps: true, power: 'ON' }),
    await device({}),
  ]
  await putBehindGateway(
    harness,
    gateway.id,
    [codec, display, lost].map(({ id }) => id),
  )
  const startedAt = harness.clock.now()
  harness.clock.advance(hourMs)
  const lostAt = await leave(lost)
  expect(await stateOf(lost)).toEqual({ state: 'OFFLINE', since: iso(lostAt) })
  harness.clock.advance(hourMs)
  // The server notices the end of one device before the end of the gateway, and the end of the other after it.
  const displayAt = await leave(display)
  expect((await stateOf(display)).state).toBe('OFFLINE')
  harness.clock.advance(30 * secondMs)
  const gatewayAt = await leave(gateway)
  expect((await stateOf(display)).state).toBe('UNKNOWN')
  expect((await stateOf(lost)).state).toBe('UNKNOWN')
  expect((await stateOf(codec)).state).toBe('ONLINE')
  const codecAt = await leave(codec)
  expect(await stateOf(codec)).toEqual({ state: 'UNKNOWN', since: iso(startedAt) })
  expect((await stateOf(gateway)).state).toBe('OFFLINE')
  expect(await roomState()).toEqual({ state: 'OFFLINE', asleepCount: 0, unknownCount: 3 })

  harness.clock.advance(5 * hourMs)
  await gateway.connect()
  const backAt = harness.clock.now()
  expect(await roomState()).toEqual({ state: 'HEALTHY', asleepCount: 0, unknownCount: 3 })
  harness.clock.advance(minuteMs)
  await codec.connect()
  expect(await stateOf(codec)).toEqual({ state: 'ONLINE', since: iso(startedAt) })
  harness.clock.advance(settleMs - minuteMs - 1)
  expect((await stateOf(display)).state).toBe('UNKNOWN')
  harness.clock.advance(1)
  expect((await stateOf(display)).state).toBe('ASLEEP')
  expect((await stateOf(lost)).state).toBe('OFFLINE')

  const historyOf = async ({ id }: TestDevice) =>
    (await org.call('GET', `/endpoints/${id}/connections?from=${iso(startedAt)}`)).body
  expect(await historyOf(codec)).toMatchObject({
    outages: 0,
    onlineShare: 1,
    spans: [{ followedBy: 'UNKNOWN' }, {}],
    gaps: [{ state: 'UNKNOWN', from: iso(codecAt), to: iso(backAt + minuteMs) }],
  })
  expect((await historyOf(display)).gaps).toMatchObject([
    { state: 'UNKNOWN', from: iso(displayAt), to: iso(backAt + settleMs) },
  ])
  expect(await historyOf(lost)).toMatchObject({
    outages: 1,
    longestOutageSeconds: (gatewayAt - minuteMs - lostAt) / 1000,
    gaps: [{ state: 'UNKNOWN', from: iso(gatewayAt - minuteMs), to: iso(backAt + settleMs) }],
  })
})

test('a gateway whose server died takes along a device that left just before, which a status event says', async () => {
  const codec = await device({})
  const onlineSince = harness.clock.now()
  const [gateway] = await putEndpoints(harness, org, [{ room_id: room, connected: 1, connection_time: onlineSince }])
  await putBehindGateway(harness, gateway?.id ?? '', [codec.id])
  harness.clock.advance(hourMs)
  const leftAt = await leave(codec)
  harness.clock.advance(30 * secondMs)
  // The gateway was connected to another server than the device.
  const at = harness.clock.now()
  await harness.services.db.systemTransaction(async (on) => {
    const dead = await insertNode(on, { name: 'east', process: `east ${org.id}`, version: '0', at: onlineSince })
    const nodes = on.kysely.updateTable('nodes').set({ state: 'dead', ended_at: at })
    await nodes.where('id', '=', dead?.id ?? 0).execute()
    const row = on.kysely.updateTable('endpoints').set({ node_id: dead?.id ?? 0 })
    await row.where('id', '=', gateway?.id ?? '').execute()
  })
  harness.services.db.invalidateAll()
  expect(await stateOf(codec)).toEqual({ state: 'UNKNOWN', since: iso(leftAt) })
  const reader = await follow(org.client, { types: 'status' })
  harness.clock.advance(2 * minuteMs)
  await clearEndedNodes(harness.services, new AbortController().signal)
  expect(await reader.next('status')).toMatchObject({ endpointId: codec.id })
  expect(await stateOf(codec)).toEqual({ state: 'UNKNOWN', since: iso(onlineSince) })
})

test('the end and the return of a gateway are status events of its devices', async () => {
  const [gateway, codec] = [await device({}), await device({})]
  await putBehindGateway(harness, gateway.id, [codec.id])
  await leave(codec)
  const reader = await follow(org.client, { types: 'status,disconnected' })
  await leave(gateway)
  const isOfCodec = (event: object) => 'endpointId' in event && event.endpointId === codec.id
  await reader.next('status', isOfCodec)
  await gateway.connect()
  await reader.next('status', isOfCodec)
  await gateway.close()
  // The event of a device that falls asleep says so.
  const display = await device({ sleeps: true, power: 'OFF' })
  await display.close()
  const left = await reader.next('disconnected', (event) => 'endpointId' in event && event.endpointId === display.id)
  expect(left).toMatchObject({ presence: { state: 'ASLEEP', since: iso(harness.clock.now()) } })
})

test('a caller who does not see the gateway gets no via, but is told that there is one, and an unenrolled gateway is not the gateway of a device', async () => {
  const [gateway, codec] = [await device({}), await device({})]
  await putBehindGateway(harness, gateway.id, [codec.id])
  const viaFor = async (key?: string) => {
    const call = async (path: string) => (await org.call('GET', path, key === undefined ? {} : { key })).body
    const isCodec = ({ id }: { id: string }) => id === codec.id
    return [
      await call(`/endpoints/${codec.id}`),
      ...(await call('/endpoints')).endpoints.filter(isCodec),
      ...(await call(`/rooms/${room}`)).endpoints.filter(isCodec),
    ].map(({ via, hasGateway }) => {
      expect(hasGateway).toBe(true)
      return via
    })
  }
  const regionId = (await org.call('POST', '/regions', { body: { name: 'Europe' } })).body.id
  const locationId = (await org.call('POST', '/locations', { body: { name: 'Oslo', regionId } })).body.id
  await org.call('PUT', `/rooms/${room}`, { body: { name: 'Fjord', locationId } })
  const { key } = (
    await org.call('POST', '/keys', { body: { name: 'Europe', scopes: ['read'], regionIds: [regionId] } })
  ).body
  expect(await viaFor()).toEqual([gateway.id, gateway.id, gateway.id])
  expect(await viaFor(key)).toEqual([gateway.id, gateway.id, gateway.id])
  const other = (await org.call('POST', '/rooms', { body: { name: 'Server room' } })).body.id
  await org.call('POST', '/endpoints/move_paired', { body: { endpointIds: [gateway.id], roomId: other } })
  expect(await viaFor()).toEqual([gateway.id, gateway.id, gateway.id])
  expect(await viaFor(key)).toEqual([undefined, undefined, undefined])
  const listed = async (query: string, token?: string) => {
    const { body } = await org.call('GET', `/endpoints?${query}`, token === undefined ? {} : { key: token })
    return body.endpoints.map(({ id }: { id: string }) => id)
  }
  expect(await listed(`via=${gateway.id}`)).toEqual([codec.id])
  expect(await listed(`via=${gateway.id}&locationId=${locationId + 1}`)).toEqual([])
  expect(await listed(`via=${gateway.id}`, key)).toEqual([])
  expect(await listed(`ids=${codec.id},${gateway.id}`)).toEqual([codec.id, gateway.id].sort())
  expect(await listed(`ids=${codec.id},${gateway.id}&regionId=${regionId}`)).toEqual([codec.id])
  expect(await listed(`ids=${codec.id},${gateway.id}`, key)).toEqual([codec.id])
  const rooms = (await org.call('GET', `/rooms?ids=${room},99`)).body.rooms
  expect(rooms).toEqual((await org.call('GET', '/rooms')).body.rooms.filter(({ id }: { id: number }) => id === room))
  for (const path of ['/endpoints?ids=no', `/rooms?ids=${Array(201).fill(room).join()}`, '/rooms?ids=']) {
    expect((await org.call('GET', path)).status, path).toBe(400)
  }
  await org.call('POST', '/endpoints/move_paired', { body: { endpointIds: [gateway.id], roomId: room } })
  expect(await listed(`via=${gateway.id}`, key)).toEqual([codec.id])
  const third = await device({})
  await putBehindGateway(harness, codec.id, [third.id])
  await org.call('DELETE', `/endpoints/${codec.id}`)
  const released = (await org.call('GET', `/endpoints/${third.id}`)).body
  expect([released.via, released.hasGateway]).toEqual([undefined, undefined])
  await org.call('POST', '/endpoints/move_paired', { body: { endpointIds: [gateway.id], roomId: other } })
  await putBehindGateway(harness, gateway.id, [third.id])
  await org.call('DELETE', `/rooms/${other}`)
  expect((await org.call('GET', `/endpoints/${third.id}`)).body).not.toHaveProperty('via')
  await leave(third)
  expect((await stateOf(third)).state).toBe('OFFLINE')
})
