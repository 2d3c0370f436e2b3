// Restarts of many rooms with real devices: rooms in use, pairs, restarts that others asked for, and jobs that are paused or stopped. [contract 12.states]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { jobOnce, newJob, unitsOf } from '../../../../test/support/jobs/job-devices.ts'
import { until } from '../../../../test/support/program.ts'
import { minuteMs } from '../../../contract/durations.ts'

let harness: Harness
/** One organisation for all tests: a node needs about a second until it runs the tasks of a new one. */
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({ settleMinutes: 0 }, quickTasks)
  org = await harness.newOrg()
})
afterAll(() => harness.close())

const step = (id: string, name: string) => org.call('POST', `/jobs/${id}/${name}`, { body: {} })

const respectIdle = { idle: true, window: false }
const stateOf = async (operation: string) => (await org.call('GET', `/operations/${operation}`)).body.state

async function restart(device: TestDevice, attempt: string): Promise<void> {
  await device.publish('operation', { id: attempt, state: 'ACKNOWLEDGED' })
  device.drop()
  await device.connect()
  await device.publish('operation', { id: attempt, state: 'SUCCEEDED' })
}

test('a room that comes into use before its reboot is no failure, and a cancelled job takes back reboots that wait [contract 12.states]', async () => {
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const device = await newDevice(harness, org, { roomId, model: 'NF21C1' })
  await device.publish('status', { inCallStatus: 'NONE' })
  harness.clock.advance(11 * minuteMs)
  const respect = { idle: true, window: false }
  const { id } = await newJob(org, { target: { roomIds: [roomId] }, action: { type: 'REBOOT' }, respect })
  const refuse = async () => {
    const sent = await device.next('operation', 15_000)
    await device.publish('operation', { id: sent.id, state: 'FAILED', error: 'in use' })
    const [unit] = await unitsOf(org, id)
    const { operationId } = unit.endpoints[0]
    await until('it waits', async () => (await org.call('GET', `/operations/${operationId}`)).body.waitsFor === 'idle')
    return operationId as string
  }
  const first = await refuse()
  await device.publish('status', { inCallStatus: 'ZOOM' })
  harness.clock.advance(30 * minuteMs)
  await jobOnce(org, id, 'it waits again', ({ waiting }) => waiting.idle === 1)
  expect((await unitsOf(org, id))[0].beganAt).toBeUndefined()
  await device.publish('status', { inCallStatus: 'NONE' })
  harness.clock.advance(11 * minuteMs)
  const second = await refuse()
  expect(second).not.toBe(first)
  expect((await step(id, 'cancel')).body).toMatchObject({ state: 'CANCELLED', counts: { CANCELLED: 1 } })
  expect((await org.call('GET', `/operations/${second}`)).body.state).toBe('CANCELLED')
  await device.close()
})

test('a job shares a reboot that a person has asked for and that waits, and its pause and its cancel leave that one [contract 12.when]', async () => {
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const device = await newDevice(harness, org, { roomId, model: 'NF21C1' })
  await device.publish('status', { inCallStatus: 'ZOOM' })
  const { operations } = (await org.call('POST', `/endpoints/${device.id}/reboot`, { body: { when: 'idle' } })).body
  const asked: string = operations[0].id
  const newReboot = () =>
    newJob(org, { target: { roomIds: [roomId] }, action: { type: 'REBOOT' }, respect: respectIdle })
  /** Returns the id of the attempt that the device got. */
  const share = async (id: string) => {
    const attempt = await device.next('operation', 15_000)
    await jobOnce(org, id, 'it runs', ({ counts }) => counts.RUNNING === 1)
    expect((await unitsOf(org, id))[0].endpoints[0].operationId).toBe(asked)
    return attempt.id as string
  }
  const first = await newReboot()
  await jobOnce(org, first.id, 'it waits', ({ waiting }) => waiting.idle === 1)
  await device.publish('status', { inCallStatus: 'NONE' })
  harness.clock.advance(11 * minuteMs)
  await device.publish('operation', { id: await share(first.id), state: 'FAILED', error: 'in use' })
  expect((await step(first.id, 'pause')).body).toMatchObject({ state: 'PAUSED', counts: { RUNNING: 1 } })
  expect((await step(first.id, 'cancel')).body.state).toBe('CANCELLED')
  expect(await stateOf(asked)).toBe('QUEUED')
  const second = await newReboot()
  harness.clock.advance(11_000)
  await restart(device, await share(second.id))
  await jobOnce(org, second.id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  expect(device.received.filter(({ kind }) => kind === 'operation')).toHaveLength(2)
  await device.close()
})

test('a pair of which one device is offline when the other restarts waits for it, and then restarts together [contract 12.states]', async () => {
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const bar = await newDevice(harness, org, { roomId, model: 'NF21C1' })
  const pad = await newDevice(harness, org, { roomId, model: 'NF21C1', pairingSerial: bar.serial })
  for (const device of [bar, pad]) await device.publish('status', { inCallStatus: 'NONE' })
  harness.clock.advance(11 * minuteMs)
  const target = { roomIds: [roomId] }
  const { id } = await newJob(org, { target, action: { type: 'REBOOT' }, respect: respectIdle })
  // Both are in use for a moment, and one is gone when the other is asked again. A group waits for its first device, by id.
  const [first, second] = bar.id < pad.id ? [bar, pad] : [pad, bar]
  for (const device of [first, second]) {
    const attempt = await device.next('operation', 15_000)
    await device.publish('operation', { id: attempt.id, state: 'FAILED', error: 'in use' })
  }
  const [unit] = await unitsOf(org, id)
  const { operationId } = unit.endpoints.find(({ endpointId }: { endpointId: string }) => endpointId === second.id)
  await second.close()
  await until('the service has noticed', async () => !(await org.call('GET', `/endpoints/${second.id}`)).body.connected)
  harness.clock.advance(11_000)
  await restart(first, (await first.next('operation', 15_000)).id)
  expect(await stateOf(operationId)).toBe('SKIPPED')
  await jobOnce(org, id, 'it waits for the other', ({ waiting }) => waiting.connection === 1)
  await second.connect()
  for (const device of [first, second]) await device.publish('status', { inCallStatus: 'NONE' })
  harness.clock.advance(11 * minuteMs)
  for (const device of [first, second]) await restart(device, (await device.next('operation', 15_000)).id)
  await jobOnce(org, id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  for (const device of [bar, pad]) await device.close()
})

/** Devices in rooms of their own, which have not been in use for long enough. */
async function newIdleDevices(count: number): Promise<{ roomIds: number[]; devices: TestDevice[] }> {
  const roomIds: number[] = []
  const devices: TestDevice[] = []
  for (let i = 0; i < count; i++) {
    const roomId = (await org.call('POST', '/rooms', { body: { name: `Fjord ${i}` } })).body.id
    const device = await newDevice(harness, org, { roomId, model: 'NF21C1' })
    await device.publish('status', { inCallStatus: 'NONE' })
    roomIds.push(roomId)
    devices.push(device)
  }
  harness.clock.advance(11 * minuteMs)
  return { roomIds, devices }
}

const newRebootJob = (roomIds: readonly number[]) =>
  newJob(org, { target: { roomIds }, action: { type: 'REBOOT' }, respect: respectIdle })
const nextAttempt = async (device: TestDevice): Promise<string> => (await device.next('operation', 15_000)).id
const failAttempt = async (device: TestDevice, error: string) =>
  device.publish('operation', { id: await nextAttempt(device), state: 'FAILED', error })
const operationsOf = async (id: string): Promise<string[]> =>
  (await unitsOf(org, id)).map(({ endpoints }) => endpoints[0].operationId)

test('a pause takes back reboots that wait, and after a resume they are asked for again [contract 12.states]', async () => {
  const { roomIds, devices } = await newIdleDevices(3)
  const [refusing, restarting, other] = devices as [TestDevice, TestDevice, TestDevice]
  const { id } = await newRebootJob(roomIds.slice(0, 2))
  await failAttempt(refusing, 'in use')
  const attempt = await nextAttempt(restarting)
  const [taken, sent] = (await operationsOf(id)) as [string, string]
  const paused = (await step(id, 'pause')).body
  expect(paused).toMatchObject({ state: 'PAUSED', counts: { WAITING: 1, RUNNING: 1 }, waiting: { idle: 1 } })
  expect(await stateOf(taken)).toBe('CANCELLED')
  expect((await unitsOf(org, id))[0].beganAt).toBeUndefined()
  expect(await stateOf(sent), 'the device may restart already').toBe('QUEUED')
  await restart(restarting, attempt)
  await jobOnce(org, id, 'what runs ends', ({ counts }) => counts.SUCCEEDED === 1)

  // The reboot of another device shows that waiting reboots were checked since then.
  harness.clock.advance(11 * minuteMs)
  expect((await org.call('POST', `/endpoints/${other.id}/reboot`, { body: { when: 'idle' } })).status).toBe(200)
  await nextAttempt(other)
  const commandsOf = ({ received }: TestDevice) => received.filter(({ kind }) => kind === 'operation')
  expect(commandsOf(refusing)).toHaveLength(1)
  expect((await step(id, 'resume')).status).toBe(200)
  await restart(refusing, await nextAttempt(refusing))
  await jobOnce(org, id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  expect((await operationsOf(id))[0]).not.toBe(taken)
  expect(commandsOf(restarting), 'it has restarted once').toHaveLength(1)
  for (const device of devices) await device.close()
})

test('a pause takes nothing back of a room of which one device has restarted [contract 12.states]', async () => {
  const { roomIds, devices } = await newIdleDevices(1)
  const refusing = await newDevice(harness, org, { roomId: roomIds[0] as number, model: 'NF21C1' })
  await refusing.publish('status', { inCallStatus: 'NONE' })
  harness.clock.advance(11 * minuteMs)
  const { id } = await newRebootJob(roomIds)
  await failAttempt(refusing, 'in use')
  const [restarting] = devices as [TestDevice]
  await restart(restarting, await nextAttempt(restarting))
  const endpoints = async () => (await unitsOf(org, id))[0].endpoints as { state: string; operationId: string }[]
  await until('one has restarted', async () => (await endpoints()).some(({ state }) => state === 'DONE'))
  expect((await step(id, 'pause')).body).toMatchObject({ state: 'PAUSED', counts: { RUNNING: 1 } })
  const waiting = (await endpoints()).find(({ state }) => state === 'SENT')
  expect(await stateOf(waiting?.operationId ?? '')).toBe('QUEUED')
  for (const device of [...devices, refusing]) await device.close()
})

test('an automatic stop takes back reboots that wait [contract 12.states]', async () => {
  const { roomIds, devices } = await newIdleDevices(2)
  const [refusing, broken] = devices as [TestDevice, TestDevice]
  const { id } = await newRebootJob(roomIds)
  await failAttempt(refusing, 'in use')
  await failAttempt(broken, 'The disk is full.')
  const stopped = await jobOnce(org, id, 'it is stopped', ({ state }) => state === 'STOPPED')
  expect(stopped).toMatchObject({ counts: { WAITING: 1, FAILED: 1 }, waiting: { idle: 1 } })
  expect(await stateOf((await operationsOf(id))[0] as string)).toBe('CANCELLED')
  for (const device of devices) await device.close()
})
