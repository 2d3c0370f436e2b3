// Tests reboots that wait until their rooms are idle and in their change windows. [contract 12.when]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../../../../../test/support/devices/test-device.ts'
import { follow } from '../../../../../test/support/event-follower.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../../test/support/harness.ts'
import { until } from '../../../../../test/support/program.ts'
import { downTopic } from '../../../../contract/device/protocol.ts'
import { hourMs, minuteMs } from '../../../../contract/durations.ts'
import type { Event } from '../../../../contract/journal/events.ts'
import { expireCommands } from '../progress.ts'

/** One organisation for all tests: a node needs about a second until it runs the tasks of a new one. */
let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
  org = await harness.newOrg()
})
afterAll(() => harness.close())

const newRoom = async (locationId?: number): Promise<number> =>
  (await org.call('POST', '/rooms', { body: { name: 'Fjord', locationId } })).body.id
const ask = ({ id }: TestDevice, body: unknown) => org.call('POST', `/endpoints/${id}/reboot`, { body })
async function askFor(device: TestDevice, body: unknown = { when: 'idle' }) {
  const reply = await ask(device, body)
  expect(reply.status, reply.text).toBe(200)
  return reply.body.operations[0]
}
const read = async (id: string) => (await org.call('GET', `/operations/${id}`)).body
const waitsFor = (id: string, expected: string | undefined) =>
  until(`operation waits for ${expected}`, async () => {
    const operation = await read(id)
    return operation.state === 'QUEUED' && operation.waitsFor === expected
  })
const isState = (id: string, state: string) =>
  until(`operation is ${state}`, async () => (await read(id)).state === state)
const report = (device: TestDevice, id: string, state: string, error?: string) =>
  device.publish('operation', { id, state, ...(error && { error }) })
const nextCommand = (device: TestDevice) => device.next('operation', 15_000)
const commandsOf = (device: TestDevice) => device.received.filter(({ kind }) => kind === 'operation')
const attemptsOf = ({ id }: TestDevice) =>
  harness.services.db.system.kysely
    .selectFrom('operations')
    .selectAll()
    .where('endpoint_id', '=', id)
    .where('attempt_of', 'is not', null)
    .execute()

/** A device in a room that is known to be idle: it is in no call and has been connected for long enough. */
async function idleDevice(roomId: number, pairingSerial?: string): Promise<TestDevice> {
  const device = await newDevice(harness, org, { roomId, model: 'NF21C1', ...(pairingSerial && { pairingSerial }) })
  await device.publish('status', { inCallStatus: 'NONE' })
  return device
}

/** Disconnects the device, and resolves when the service has stored that. */
async function disconnect(device: TestDevice): Promise<void> {
  await device.close()
  const isConnected = async () => (await org.call('GET', `/endpoints/${device.id}`)).body.connected
  await until('the device is disconnected', async () => !(await isConnected()))
}

test('a reboot waits until the call has been over for 10 minutes; then an attempt with an id of its own is sent', async () => {
  const device = await idleDevice(await newRoom())
  harness.clock.advance(11 * minuteMs)
  await device.publish('status', { inCallStatus: 'ZOOM' })
  const before = await org.audit()
  const asked = await askFor(device)
  expect(asked).toMatchObject({ type: 'REBOOT', state: 'QUEUED', waitsFor: 'idle' })
  expect(Date.parse(asked.deadline) - Date.parse(asked.createdAt)).toBe(24 * hourMs)
  const [entry, ...earlier] = await org.audit()
  expect(earlier).toEqual(before)
  expect(entry).toMatchObject({
    type: 'DEVICE_REBOOT_REQUESTED',
    details: { after: { when: 'idle', withinHours: 24 } },
  })

  await device.publish('status', { inCallStatus: 'NONE' })
  harness.clock.advance(9 * minuteMs)
  await waitsFor(asked.id, 'idle')
  expect(commandsOf(device)).toEqual([])
  harness.clock.advance(2 * minuteMs)
  const command = await nextCommand(device)
  expect(command).toMatchObject({ type: 'REBOOT', onlyIfIdle: true })
  expect(command.id).not.toBe(asked.id)
  expect(Date.parse(command.deadline) - harness.clock.now()).toBeLessThanOrEqual(5 * minuteMs)
  const waiting = await read(asked.id)
  expect(waiting.state).toBe('QUEUED')
  expect(waiting).not.toHaveProperty('waitsFor')

  expect((await org.call('GET', `/operations/${command.id}`)).status, 'an attempt is not shown').toBe(404)
  for (const path of ['/operations', `/endpoints/${device.id}/operations`]) {
    const operations: { id: string; endpointId: string }[] = (await org.call('GET', path)).body.operations
    expect(operations.filter((o) => o.endpointId === device.id).map((o) => o.id)).toEqual([asked.id])
  }
  await report(device, command.id, 'ACKNOWLEDGED')
  expect(await read(asked.id)).toMatchObject({ state: 'ACKNOWLEDGED' })
  device.drop()
  await device.connect()
  await report(device, command.id, 'SUCCEEDED')
  expect(await read(asked.id)).toMatchObject({ state: 'SUCCEEDED' })
  expect(await org.audit(), 'progress is not audited').toEqual([entry, ...earlier])
  await device.close()
})

test('a device that reports in use is asked again after a pause, and no list, event or message shows an attempt', async () => {
  const channel = { name: 'Team', kind: 'webhook', url: 'https://hooks.example.org/T02', enabled: false }
  const events = ['operation.finished', 'audit.entry']
  expect((await org.call('POST', '/channels', { body: { ...channel, events } })).status).toBe(200)
  const follower = await follow(org.client, {})
  const device = await idleDevice(await newRoom())
  harness.clock.advance(11 * minuteMs)
  const { id } = await askFor(device)
  const first = await nextCommand(device)
  const listed = [await org.call('GET', '/operations')]
  await report(device, first.id, 'FAILED', 'in use')
  expect(await read(id)).toMatchObject({ state: 'QUEUED', waitsFor: 'idle' })
  expect(await read(id)).not.toHaveProperty('error')
  harness.clock.advance(11_000)
  const second = await nextCommand(device)
  expect(second.id).not.toBe(first.id)
  await report(device, second.id, 'FAILED', 'The disk is full.')
  expect(await read(id)).toMatchObject({ state: 'FAILED', error: 'The disk is full.' })
  const isEnd = ({ operation }: Event) => operation?.id === id && operation?.state === 'FAILED'
  await follower.next('operation', isEnd)
  listed.push(await org.call('GET', '/operations'), await org.call('GET', `/endpoints/${device.id}/operations`))
  const messages = await harness.services.db.system.kysely.selectFrom('messages').select('data').execute()
  const shown = [listed[0]?.text, listed[2]?.text, JSON.stringify(follower.events), JSON.stringify(messages)]
  for (const text of shown) expect(text).toContain(id)
  for (const text of [...shown, listed[1]?.text]) for (const one of [first, second]) expect(text).not.toContain(one.id)
  follower.leave()
  await device.close()
})

test('an endpoint that is offline gets its reboot after it has connected and sent its status, not before', async () => {
  const device = await idleDevice(await newRoom())
  harness.clock.advance(11 * minuteMs)
  await disconnect(device)
  const asked = await askFor(device)
  expect(asked).toMatchObject({ state: 'QUEUED', waitsFor: 'connection' })
  await device.connect()
  await waitsFor(asked.id, 'idle')
  harness.services.devices.wake([device.id])
  await device.publish('sample', { samples: [{ timestamp: Math.floor(harness.clock.now() / 1000), temp: 21 }] })
  expect(commandsOf(device), 'before its status').toEqual([])
  await device.publish('status', { inCallStatus: 'NONE' })
  expect(await nextCommand(device)).toMatchObject({ type: 'REBOOT', onlyIfIdle: true })
  await device.close()
})

test('a call that has begun since keeps an attempt from being sent', async () => {
  const device = await idleDevice(await newRoom())
  harness.clock.advance(11 * minuteMs)
  await disconnect(device)
  const { id } = await askFor(device)
  await device.connect({ subscribe: false })
  await device.publish('status', { inCallStatus: 'NONE' })
  await until('an attempt waits', async () => (await attemptsOf(device)).length === 1)
  await device.publish('status', { inCallStatus: 'TEAMS' })
  await device.client.subscribeAsync(downTopic(device.id, '#'), { qos: 1 })
  await waitsFor(id, 'idle')
  expect(await attemptsOf(device), 'the unsent attempt is gone').toEqual([])
  expect(commandsOf(device)).toEqual([])
  await device.close()
})

test('a pair group waits until all of its rooms are idle and in their windows; members that are offline then are SKIPPED', async () => {
  const roomId = await newRoom()
  const bar = await idleDevice(roomId)
  const inThreeDays = new Date(harness.clock.now() + 72 * hourMs)
  const day = inThreeDays.toLocaleDateString('en-GB', { weekday: 'short', timeZone: 'UTC' }).toLowerCase()
  const place = { name: 'Oslo', timezone: 'UTC' }
  const changeWindow = { days: [day], from: '00:00', to: '23:00' }
  const { id: location } = (await org.call('POST', '/locations', { body: { ...place, changeWindow } })).body
  const pad = await idleDevice(await newRoom(location), bar.serial)
  await bar.publish('status', { pairedSerials: [pad.serial] })
  const asleep = await newDevice(harness, org, { roomId, model: 'NF21C1', pairingSerial: bar.serial, offline: true })
  harness.clock.advance(11 * minuteMs)
  await pad.publish('status', { inCallStatus: 'MEET' })
  const { body } = await ask(bar, { when: 'window' })
  const idOf = (device: TestDevice) =>
    body.operations.find((o: { endpointId: string }) => o.endpointId === device.id).id as string
  expect(body.operations).toHaveLength(3)
  for (const device of [bar, pad, asleep]) await waitsFor(idOf(device), 'window')
  await org.call('PUT', `/locations/${location}`, { body: { ...place, changeWindow: null } })
  for (const device of [bar, pad, asleep]) await waitsFor(idOf(device), 'idle')
  await pad.publish('status', { inCallStatus: 'NONE' })
  harness.clock.advance(11 * minuteMs)
  await isState(idOf(asleep), 'SKIPPED')
  for (const device of [bar, pad]) {
    const { id } = await nextCommand(device)
    await report(device, id, 'ACKNOWLEDGED')
    await isState(idOf(device), 'ACKNOWLEDGED')
  }
  for (const device of [bar, pad]) await device.close()
})

test('an attempt that is not acknowledged expires and the operation waits on; at its own deadline it is EXPIRED', async () => {
  const device = await idleDevice(await newRoom())
  harness.clock.advance(11 * minuteMs)
  const { id } = await askFor(device, { when: 'idle', withinHours: 1 })
  const first = await nextCommand(device)
  harness.clock.advance(5 * minuteMs + 1)
  await expireCommands(harness.services)
  expect((await read(id)).state).toBe('QUEUED')
  await until('another attempt', async () => commandsOf(device).some(({ body }) => body.id !== first.id))
  harness.clock.advance(hourMs)
  await expireCommands(harness.services)
  expect(await read(id)).toMatchObject({ state: 'EXPIRED' })
  expect((await attemptsOf(device)).every(({ state }) => state === 'EXPIRED')).toBe(true)
  await device.close()
})

test('operationsCancel ends the wait and its attempt; while an attempt is on its way it is refused', async () => {
  const device = await idleDevice(await newRoom())
  harness.clock.advance(11 * minuteMs)
  await device.publish('status', { inCallStatus: 'ZOOM' })
  const waiting = await askFor(device)
  expect((await org.call('DELETE', `/operations/${waiting.id}`)).status).toBe(200)
  expect(await read(waiting.id)).toMatchObject({ state: 'CANCELLED' })
  await device.publish('status', { inCallStatus: 'NONE' })
  harness.clock.advance(11 * minuteMs)
  const sent = await askFor(device)
  const { id: attempt } = await nextCommand(device)
  const refused = await org.call('DELETE', `/operations/${sent.id}`)
  expect(refused.status).toBe(400)
  expect(refused.body.message).toContain('was just sent to the device')
  expect((await read(sent.id)).state).toBe('QUEUED')
  expect((await org.call('DELETE', `/operations/${attempt}`)).status).toBe(404)
  await device.close()
})

test('a second reboot that would wait is refused, for the device and its pair, until the first is cancelled', async () => {
  const roomId = await newRoom()
  const bar = await newDevice(harness, org, { roomId, model: 'NF21C1', offline: true })
  const pad = await newDevice(harness, org, { roomId, model: 'NF21C1', pairingSerial: bar.serial, offline: true })
  const first = await ask(bar, { when: 'idle' })
  const waiting = first.body.operations.map(({ id }: { id: string }) => id) as string[]
  expect(waiting).toHaveLength(2)
  for (const device of [bar, pad]) {
    const { status, body } = await ask(device, { when: 'window' })
    expect([status, body.code]).toEqual([400, 'FAILED_PRECONDITION'])
    expect(waiting.some((id) => body.message.includes(id))).toBe(true)
  }
  expect((await org.call('DELETE', `/operations/${waiting[0]}`)).status).toBe(200)
  expect((await read(waiting[1] as string)).state, 'its pair does not restart alone').toBe('CANCELLED')
  expect((await org.audit())[0]).toMatchObject({
    type: 'DEVICE_OPERATION_CANCELLED',
    details: { affected: [{ id: pad.id }] },
  })
  expect((await ask(pad, { when: 'window' })).status).toBe(200)
})

test('a reboot in the window waits until the clocks of the location show it', async () => {
  const now = new Date(harness.clock.now())
  const at = (hours: number) => `${String((now.getUTCHours() + hours) % 24).padStart(2, '0')}:00`
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
  const changeWindow = { days, from: at(3), to: at(6) }
  const location = await org.call('POST', '/locations', { body: { name: 'Oslo', timezone: 'UTC', changeWindow } })
  expect(location.status, location.text).toBe(200)
  const device = await idleDevice(await newRoom(location.body.id))
  const other = await idleDevice(await newRoom(location.body.id))
  harness.clock.advance(11 * minuteMs)
  const { id } = await askFor(device, { when: 'window' })
  await askFor(other, { when: 'idle' })
  await nextCommand(other)
  await waitsFor(id, 'window')
  expect(commandsOf(device), 'outside of the window').toEqual([])
  harness.clock.advance(4 * hourMs)
  expect(await nextCommand(device)).toMatchObject({ onlyIfIdle: true })
  await device.close()
  await other.close()
})

test.each([
  [undefined],
  [{}],
  [[]],
  ['idle'],
  [7],
  [null],
  [{ reason: 'cleaning' }],
  [{ when: 'now', withinHours: 3 }],
])('a reboot with the body %j happens now [contract 12.when]', async (body) => {
  const device = await newDevice(harness, org, { roomId: await newRoom() })
  const raw = body === undefined ? undefined : JSON.stringify(body)
  const reply = await org.call('POST', `/endpoints/${device.id}/reboot`, raw === undefined ? {} : { raw })
  expect(reply.status, reply.text).toBe(200)
  const [operation] = reply.body.operations
  expect(operation).not.toHaveProperty('waitsFor')
  expect(await nextCommand(device)).toEqual({ id: operation.id, type: 'REBOOT', deadline: operation.deadline })
  await device.close()
})

test.each([
  { when: 'later' },
  { when: null },
  { when: 'idle', withinHours: 0 },
  { withinHours: 169 },
  { withinHours: '2' },
])('a reboot with the body %j is a 400, and nothing is written', async (body) => {
  const device = await newDevice(harness, org, { roomId: await newRoom(), offline: true })
  const before = await org.audit()
  expect((await ask(device, body)).status).toBe(400)
  expect(await org.audit()).toEqual(before)
  expect((await org.call('GET', `/endpoints/${device.id}/operations`)).body.operations).toEqual([])
})
