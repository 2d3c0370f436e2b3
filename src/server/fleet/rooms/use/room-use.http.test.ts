// The use of rooms, from what real devices report. [contract 12.idle]
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { putEndpointWithSpans, type Span } from '../../../../../test/support/database/connection-spans.ts'
import { countWrites } from '../../../../../test/support/database/count-writes.ts'
import { putEndpoints } from '../../../../../test/support/database/endpoint-rows.ts'
import { newDevice, type TestDevice } from '../../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../../test/support/harness.ts'
import { until } from '../../../../../test/support/program.ts'
import { dayMs, hourMs, minuteMs, secondMs } from '../../../../contract/durations.ts'
import { insertNode } from '../../../nodes/store.ts'
import { rollUp } from '../../../sensors/rollups/roll-up.ts'
import { readRoomUse } from './room-use.ts'
import { spansPerPage } from './store.ts'

const idleMs = 10 * minuteMs
const [busy, idle, neither] = [
  { isBusy: true, isIdle: false, canKnow: true },
  { isBusy: false, isIdle: true, canKnow: true },
  { isBusy: false, isIdle: false, canKnow: true },
]
const unknown = { isBusy: false, isIdle: true, canKnow: false }

let harness: Harness
let org: TestOrg
let devices: TestDevice[]
/** No test sets the clock back, because the service refuses samples from the future. */
let now = Date.UTC(2026, 4, 4, 8)
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())
beforeEach(async () => {
  harness.clock.fix(now)
  org = await harness.newOrg()
  devices = []
  await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
})
afterEach(async () => {
  for (const device of devices) await device.close()
  now = harness.clock.now() + hourMs
})

async function device(model = 'NF19B1', roomId = 1): Promise<TestDevice> {
  const made = await newDevice(harness, org, { roomId, model })
  devices.push(made)
  return made
}
const advance = (ms: number) => harness.clock.advance(ms)
const read = (roomIds: readonly number[]) =>
  readRoomUse(harness.services.db.forOrg(org.org.key), {
    roomIds,
    now: harness.clock.now(),
    idleMs,
    presence: harness.services.reconnects.current,
  })
const use = async () => (await read([1])).get(1)
const isConnected = async ({ id }: TestDevice) => (await org.call('GET', `/endpoints/${id}`)).body.connected
async function disconnect(gone: TestDevice): Promise<void> {
  await gone.close()
  await until('the device is offline', async () => !(await isConnected(gone)))
}
const sample = (from: TestDevice, people: number, atMs = harness.clock.now()) =>
  from.publish('sample', { samples: [{ timestamp: Math.floor(atMs / secondMs), people }] })

test('a room is busy during a call, then idle after 10 minutes', async () => {
  const pad = await device('NF19A1')
  expect(await use(), 'a pad has no sensor and has not said whether it is in a call').toEqual(unknown)
  await pad.publish('status', { inCallStatus: 'ZOOM' })
  expect(await use()).toEqual(busy)
  advance(hourMs)
  expect(await use()).toEqual(busy)
  await pad.publish('status', { inCallStatus: 'NONE' })
  expect(await use()).toEqual(neither)
  // A report without a change of the call does not begin the minutes again.
  advance(9 * minuteMs)
  await pad.publish('status', { firmwareVersion: 'NF2' })
  advance(minuteMs - 1)
  expect(await use()).toEqual(neither)
  advance(1)
  expect(await use()).toEqual(idle)
})

test('a sample with people makes a room busy for 5 minutes, also if a later one has none', async () => {
  const bar = await device()
  advance(hourMs)
  expect(await use()).toEqual(idle)
  await sample(bar, 3)
  advance(minuteMs)
  await sample(bar, 0)
  expect(await use()).toEqual(busy)
  advance(4 * minuteMs)
  expect(await use()).toEqual(busy)
  advance(secondMs)
  expect(await use()).toEqual(neither)
  advance(idleMs - secondMs - 1)
  expect(await use()).toEqual(neither)
  advance(1)
  expect(await use()).toEqual(idle)
  // The clock of a device may be ahead of the service.
  await sample(bar, 2, harness.clock.now() + 4 * minuteMs)
  advance(9 * minuteMs)
  expect(await use()).toEqual(busy)
})

test('a device that disconnects in a call makes the room busy no longer, and idle only 10 connected minutes later', async () => {
  const bar = await device()
  advance(hourMs)
  await bar.publish('status', { inCallStatus: 'TEAMS' })
  advance(minuteMs)
  await disconnect(bar)
  expect(await use()).toEqual(neither)
  advance(20 * minuteMs)
  expect(await use()).toEqual(neither)
  await bar.connect()
  expect(await use(), 'the call that it last reported').toEqual(busy)
  await bar.publish('status', { inCallStatus: 'NONE' })
  advance(idleMs - 1)
  expect(await use()).toEqual(neither)
  advance(1)
  expect(await use()).toEqual(idle)
})

test('time in which a device was disconnected does not count, in the room of another one too', async () => {
  const [bar, board] = [await device(), await device('NF20C1')]
  advance(hourMs)
  await sample(board, 1)
  advance(5 * minuteMs + 4 * minuteMs)
  await disconnect(bar)
  advance(3 * hourMs)
  expect(await use()).toEqual(neither)
  await bar.connect()
  advance(5 * minuteMs)
  expect(await use(), '9 minutes count').toEqual(neither)
  advance(minuteMs)
  expect(await use()).toEqual(idle)
  await disconnect(bar)
  advance(3 * hourMs)
  expect(await use(), 'nothing was busy since').toEqual(idle)
  await sample(board, 2)
  advance(20 * hourMs)
  await rollUp(harness.services)
  await sample(board, 0)
  expect(await use(), 'people were there hours ago, and no minute counts since').toEqual(neither)
  advance(hourMs - 1)
  expect(await use()).toEqual(neither)
  advance(1)
  expect(await use(), 'the bar has been offline for 24 hours').toEqual(idle)
})

test('a device that has been offline for 24 hours is waited for while no other one that can know is connected', async () => {
  const [bar, pad] = [await device(), await device('NF19A1')]
  advance(hourMs)
  await sample(bar, 2)
  await disconnect(bar)
  advance(3 * dayMs)
  await rollUp(harness.services)
  expect(await use(), 'the pad cannot know').toEqual(neither)
  await pad.publish('status', { inCallStatus: 'NONE' })
  expect(await use()).toEqual(idle)
})

test('a device of an unknown model can know if it names people, or has sent a number of people [contract 5.1.models]', async () => {
  await sample(await device('AIR-1'), 0)
  expect(await use(), 'a 0 is a number').toEqual(idle)
  const other = await org.call('POST', '/rooms', { body: { name: 'Cellar' } })
  const inCellar = async () => (await read([other.body.id])).get(other.body.id)
  const second = await device('PROJECTOR-1', other.body.id)
  expect(await inCellar()).toEqual(unknown)
  await second.publish('sample', { samples: [{ timestamp: Math.floor(harness.clock.now() / secondMs), co2: 500 }] })
  expect(await inCellar()).toEqual(unknown)
  await second.publish('status', { sensors: ['people'] })
  expect(await inCellar()).toEqual(idle)
  await second.publish('status', { sensors: [] })
  expect(await inCellar()).toEqual(unknown)
  await second.publish('status', { sensors: null })
  expect(await inCellar()).toEqual(unknown)
})

test('a device that connects again keeps its room from being idle until its first status, whatever that says', async () => {
  const [bar, board] = [await device(), await device('NF20C1')]
  await bar.publish('status', { inCallStatus: 'NONE' })
  advance(hourMs)
  expect(await use(), 'a device that has never reported a call is not waited for').toEqual(idle)
  await disconnect(bar)
  await bar.connect()
  expect(await use()).toEqual(neither)
  await sample(bar, 0)
  expect(await use()).toEqual(neither)
  await bar.publish('status', { inCallStatus: 'NONE' })
  expect(await use()).toEqual(idle)
  await disconnect(board)
  expect(await use()).toEqual(idle)
})

test('connections that ended more than a week ago are read in pages, until the devices were connected together for long enough', async () => {
  const at = harness.clock.now()
  const long = at - 30 * dayMs
  const flapped = Array.from(
    { length: 2 * spansPerPage + 50 },
    (_, i): Span => [at - 10 * dayMs - i * minuteMs, at - 10 * dayMs - i * minuteMs + secondMs],
  )
  const row = { room_id: 1, enrolment_time: 0, connection_time: flapped[0]?.[1] ?? null }
  const status = JSON.stringify({ inCallStatus: 'NONE' })
  const putCallEnded = async (roomId: number, call_ended_at: number) => {
    const values = { ...row, room_id: roomId, status, call_ended_at }
    await putEndpointWithSpans(harness, org, values, [...flapped, [long, long + hourMs]])
    // The other device of the room was connected all the time.
    await putEndpointWithSpans(harness, org, { ...row, room_id: roomId, status }, [[0, at - 9 * dayMs]])
  }
  await org.call('POST', '/rooms', { body: { name: 'Skog' } })
  // The short connections count too, so only the rest of the idle time is taken from the long one.
  const quietStart = long + hourMs - (idleMs - flapped.length * secondMs)
  await putCallEnded(1, quietStart)
  await putCallEnded(2, quietStart + 1)
  expect([...(await read([1, 2])).values()]).toEqual([idle, neither])
})

test('the sleep of a device counts as time without use, also when it is awake again [contract 12.idle]', async () => {
  const display = await device('PX-900')
  await display.publish('status', { sleeps: true, power: 'STANDBY', sensors: ['people'] })
  await disconnect(display)
  advance(hourMs)
  expect(await use()).toEqual(idle)
  await display.connect()
  await display.publish('status', { power: 'ON' })
  expect(await use()).toEqual(idle)
  await sample(display, 2)
  await disconnect(display)
  advance(hourMs)
  await display.connect()
  expect(await use(), 'it left while it was on').toEqual(neither)
})

test('the end of a node ends the connections of its devices', async () => {
  const at = harness.clock.now()
  const ended_at = at - 5 * minuteMs
  const node_id = await harness.services.db.systemTransaction(async (on) => {
    const node = await insertNode(on, { name: 'elsewhere', process: 'elsewhere', version: '0', at: ended_at })
    await on.kysely
      .updateTable('nodes')
      .set({ state: 'dead', ended_at })
      .where('id', '=', node?.id ?? 0)
      .execute()
    return node?.id ?? 0
  })
  const status = JSON.stringify({ inCallStatus: 'ZOOM' })
  await putEndpoints(harness, org, [{ room_id: 1, node_id, connection_time: at - hourMs, status, enrolment_time: 0 }])
  expect(await use()).toEqual(neither)
})

test('the end of a call is stored by the statement that stores the status, and a sample writes nothing for it', async () => {
  const bar = await device()
  await bar.publish('status', { inCallStatus: 'ZOOM' })
  const tables = ['endpoints', 'rooms', 'connection_spans', 'samples']
  const writes = await countWrites(harness.services.db, tables)
  await bar.publish('status', { inCallStatus: 'NONE' })
  expect(await writes()).toEqual({ endpoints: 1 })
  await sample(bar, 2)
  expect(await writes()).toEqual({ endpoints: 1, samples: 1 })
  await disconnect(bar)
  await bar.connect()
  const before = await writes()
  await bar.publish('status', { inCallStatus: 'NONE' })
  const after = await writes()
  expect(after, 'the first status of a connection is written').not.toEqual(before)
  await bar.publish('status', { inCallStatus: 'NONE' })
  expect(await writes(), 'a second one without a change is not').toEqual(after)
})

test('rooms are read together, and a room that does not exist is idle', async () => {
  await org.call('POST', '/rooms', { body: { name: 'Skog' } })
  await org.call('POST', '/rooms', { body: { name: 'Tom' } })
  const [here, there] = [await device(), await device('NF19B1', 2)]
  advance(hourMs)
  await sample(here, 4)
  await there.publish('status', { inCallStatus: 'NONE' })
  expect([...(await read([1, 2, 3, 9]))]).toEqual([
    [1, busy],
    [2, idle],
    [3, unknown],
    [9, unknown],
  ])
  expect((await read([])).size).toBe(0)
})
