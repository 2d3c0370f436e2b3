// Jobs that meet an obstacle with real devices: a room in use, a deleted room, a rejected profile, an error of the service. [contract 12.rights]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { put } from '../../../../../test/support/devices/log-bundles.ts'
import { newDevice, type TestDevice } from '../../../../../test/support/devices/test-device.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../../test/support/harness.ts'
import {
  answerCommand,
  answerConfig,
  jobOnce,
  newJob,
  newRooms,
  unitsOf,
} from '../../../../../test/support/jobs/job-devices.ts'
import { newPerson } from '../../../../../test/support/person.ts'
import { until } from '../../../../../test/support/program.ts'
import { minuteMs } from '../../../../contract/durations.ts'

let harness: Harness
/** One organisation for all tests: a node needs about a second until it runs the tasks of a new one. */
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({ settleMinutes: 0 }, quickTasks)
  org = await harness.newOrg()
})
afterAll(() => harness.close())

const step = (id: string, name: string) => org.call('POST', `/jobs/${id}/${name}`, { body: {} })

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

const respectIdle = { idle: true, window: false }
const stateOf = async (operation: string) => (await org.call('GET', `/operations/${operation}`)).body.state

async function restart(device: TestDevice, attempt: string): Promise<void> {
  await device.publish('operation', { id: attempt, state: 'ACKNOWLEDGED' })
  device.drop()
  await device.connect()
  await device.publish('operation', { id: attempt, state: 'SUCCEEDED' })
}

test('a job shares a reboot that a person has asked for and that waits, and its cancel leaves that one [contract 12.when]', async () => {
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

test('a move whose room was deleted is paused and says so, and cannot be resumed [contract 12.rights]', async () => {
  const [room] = await newRooms(harness, org, 1)
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'New' } })).body.id
  const startAt = new Date(harness.clock.now() + 10 * minuteMs).toISOString()
  const target = { roomIds: [room?.roomId] }
  const { id } = await newJob(org, { target, action: { type: 'MOVE', roomId }, startAt })
  expect((await org.call('DELETE', `/rooms/${roomId}`)).status).toBe(200)
  harness.clock.advance(11 * minuteMs)
  const paused = await jobOnce(org, id, 'it is paused', ({ state }) => state === 'PAUSED')
  expect(paused.reason).toContain(`there is no room ${roomId}`)
  expect(paused.counts).toEqual({ PENDING: 1 })
  const resumed = await step(id, 'resume')
  expect([resumed.status, resumed.body.code]).toEqual([400, 'FAILED_PRECONDITION'])
  await room?.device.close()
})

const isOver = ({ counts, state }: { counts: { FAILED?: number }; state: string }) =>
  counts.FAILED === 1 && (state === 'STOPPED' || state === 'INCOMPLETE')

test('a retry sends a config and a profile again that the device has rejected, and can succeed [contract 12.states]', async () => {
  const [room] = await newRooms(harness, org, 1)
  const device = room?.device as TestDevice
  const { id: profileId } = (
    await org.call('POST', '/profiles', { body: { name: 'Loud', config: { bluetooth: true } } })
  ).body.profile
  const target = { roomIds: [room?.roomId] }
  for (const [action, config] of [
    [{ type: 'CONFIG', config: { nightMode: true } }, { nightMode: true }],
    [
      { type: 'ASSIGN_PROFILE', profileId },
      { nightMode: true, bluetooth: true },
    ],
  ] as const) {
    const { id } = await newJob(org, { target, action, onFailure: 'pause' })
    const { version } = await answerConfig(device, true)
    await jobOnce(org, id, 'it has failed', isOver)
    expect((await step(id, 'retry')).status).toBe(200)
    expect(await answerConfig(device)).toEqual({ version: version + 1, config })
    await jobOnce(org, id, 'it has ended', ({ state, attempt }) => state === 'SUCCEEDED' && attempt === 2)
    expect((await unitsOf(org, id))[0].endpoints[0]).toMatchObject({ state: 'DONE', versionAfter: version + 1 })
    expect((await org.call('GET', `/endpoints/${device.id}/config/state`)).body).toMatchObject({ state: 'DELIVERED' })
  }
  await device.close()
})

test('a retry of a message reaches only devices that have not shown it [contract 12.states]', async () => {
  const [room] = await newRooms(harness, org, 1)
  const device = room?.device as TestDevice
  const target = { roomIds: [room?.roomId] }
  const other = await newDevice(harness, org, { roomId: room?.roomId as number })
  const shown = await newJob(org, { target, action: { type: 'MESSAGE', message: 'Hello.' } })
  await answerCommand(device)
  await answerCommand(other, 'no screen')
  await jobOnce(org, shown.id, 'it has failed', isOver)
  await step(shown.id, 'retry')
  await answerCommand(other)
  await jobOnce(org, shown.id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  expect(device.received.filter(({ kind }) => kind === 'operation')).toHaveLength(1)
  await Promise.all([device.close(), other.close()])
})

test('a job whose actor does not see its rooms any more is paused and says so, and nothing is sent [contract 12.rights]', async () => {
  const create = async (path: string, body: object): Promise<number> => (await org.call('POST', path, { body })).body.id
  const [europe, asia] = [await create('/regions', { name: 'Europe' }), await create('/regions', { name: 'Asia' })]
  const locationId = await create('/locations', { name: 'Oslo', regionId: europe })
  const [room] = await newRooms(harness, org, 1, { locationId })
  const device = room?.device as TestDevice
  await device.close()
  const person = await newPerson(harness, org, { role: 'admin', regionIds: [europe] })
  const action = { type: 'CONFIG', config: { nightMode: true } }
  const body = { name: 'Night', start: true, target: { roomIds: [room?.roomId] }, action }
  const { id } = (await org.call('POST', '/jobs', { body, key: person.key })).body
  await jobOnce(org, id, 'it waits', ({ waiting }) => waiting.connection === 1)
  const moved = { email: person.email, role: 'admin', allRegions: false, regionIds: [asia] }
  expect((await org.call('PUT', `/users/${person.id}`, { body: moved })).status).toBe(200)
  await device.connect()
  const paused = await jobOnce(org, id, 'it is paused', ({ state }) => state === 'PAUSED')
  expect(paused.reason).toBe(`${person.email} may no longer see all rooms of this job.`)
  expect(paused.counts).toEqual({ WAITING: 1 })
  expect(device.received).toEqual([])
  expect((await step(id, 'resume')).status).toBe(200)
  await answerConfig(device)
  await jobOnce(org, id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  await device.close()
})

test('a COLLECT_LOGS job is done with a room when its device has uploaded the logs [contract 12.states]', async () => {
  const [room] = await newRooms(harness, org, 1)
  const device = room?.device as TestDevice
  const action = { type: 'COLLECT_LOGS', uploadInCallLogs: true }
  const { id } = await newJob(org, { target: { roomIds: [room?.roomId] }, action })
  const command = await device.next('operation', 15_000)
  expect(command).toMatchObject({ type: 'COLLECT_LOGS', logs: { inCallLogs: true } })
  await device.publish('operation', { id: command.id, state: 'ACKNOWLEDGED' })
  await jobOnce(org, id, 'it runs', ({ counts }) => counts.RUNNING === 1)
  expect((await put(harness, device, command.logs.uploadUrl)).status).toBe(200)
  await jobOnce(org, id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  expect((await unitsOf(org, id))[0].endpoints).toMatchObject([{ state: 'DONE', operationId: command.id }])
  const report = (await org.call('GET', `/bug_reports/${command.logs.supportId}`)).body
  expect(report.endpoints).toMatchObject([{ endpointId: device.id, state: 'UPLOADED' }])
  await device.close()
})

test('a job that the service cannot go on with is paused after some errors', async () => {
  const [room] = await newRooms(harness, org, 1)
  const target = { roomIds: [room?.roomId] }
  const startAt = new Date(harness.clock.now() + 10 * minuteMs).toISOString()
  const action = { type: 'CONFIG', config: { settingsPassword: 'Quite secret' } }
  const { id } = await newJob(org, { target, action, startAt })
  const secrets = JSON.stringify({ settingsPassword: Buffer.from('no sealed text at all').toString('base64') })
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely.updateTable('jobs').set({ secrets }).where('org', '=', org.org.key).where('id', '=', Number(id)).execute(),
  )
  harness.clock.advance(11 * minuteMs)
  const paused = await jobOnce(org, id, 'it is paused', ({ state }) => state === 'PAUSED')
  expect(paused.reason).toContain('An internal error stopped this job 5 times in a row.')
  expect(paused.counts).toEqual({ PENDING: 1 })
  await room?.device.close()
})
