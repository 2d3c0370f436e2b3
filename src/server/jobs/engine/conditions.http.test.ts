// Jobs with real devices that meet windows, incidents, profiles and people who pause them. [contract 12.states]
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { newIncident } from '../../../../test/support/incidents.ts'
import {
  answerConfig,
  jobOnce,
  newJob,
  newRooms,
  type RoomWithDevice,
  unitsOf,
} from '../../../../test/support/jobs/job-devices.ts'
import { until } from '../../../../test/support/program.ts'
import { hourMs, minuteMs } from '../../../contract/durations.ts'

let harness: Harness
/** One for all tests: a task of a new organisation begins about a second later. */
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({ settleMinutes: 0 }, quickTasks)
  harness.clock.fix(Date.UTC(2026, 4, 4, 12))
  org = await harness.newOrg()
})
afterAll(() => harness.close())

const night = { type: 'CONFIG', config: { nightMode: true } }
const targetOf = (rooms: readonly RoomWithDevice[]) => ({ roomIds: rooms.map(({ roomId }) => roomId) })
const only = (rooms: readonly RoomWithDevice[]) => rooms[0] as RoomWithDevice

test('a device that was offline for three days gets its config when it has returned and its window has begun [contract 12.states]', async () => {
  const changeWindow = { days: ['thu'], from: '20:00', to: '22:00' }
  const place = { name: 'Oslo', timezone: 'UTC', changeWindow }
  const locationId = (await org.call('POST', '/locations', { body: place })).body.id
  const rooms = await newRooms(harness, org, 1, { locationId })
  const { device } = only(rooms)
  await device.close()
  const stages = [{ percent: 100 }]
  const { id } = await newJob(org, { target: targetOf(rooms), action: night, stages, soakMinutes: 0 })
  await jobOnce(org, id, 'it waits for the device', ({ waiting }) => waiting.connection === 1)
  harness.clock.advance(72 * hourMs)
  await device.connect()
  await jobOnce(org, id, 'it waits for the window', ({ waiting }) => waiting.window === 1)
  expect(device.received).toEqual([])
  harness.clock.advance(8 * hourMs)
  expect((await answerConfig(device)).config).toEqual({ nightMode: true })
  await jobOnce(org, id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  await device.close()
})

test('a room in use gets its config when it has been empty for ten minutes [contract 12.idle]', async () => {
  const rooms = await newRooms(harness, org, 1)
  const { device } = only(rooms)
  await device.publish('status', { inCallStatus: 'ZOOM' })
  const respect = { window: false, idle: true }
  const { id } = await newJob(org, { target: targetOf(rooms), action: night, respect })
  await jobOnce(org, id, 'it waits for the call', ({ waiting }) => waiting.idle === 1)
  await device.publish('status', { inCallStatus: 'NONE' })
  harness.clock.advance(9 * minuteMs)
  // A second job is advanced after the first one, so that the first has been advanced when this one runs.
  const others = await newRooms(harness, org, 1)
  const later = await newJob(org, { target: targetOf(others), action: night })
  await answerConfig(only(others).device)
  await jobOnce(org, later.id, 'the other has ended', ({ state }) => state === 'SUCCEEDED')
  expect((await org.call('GET', `/jobs/${id}`)).body.waiting).toEqual({ idle: 1 })
  expect(device.received).toEqual([])
  harness.clock.advance(2 * minuteMs)
  await answerConfig(device)
  await jobOnce(org, id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  for (const { device: each } of [...rooms, ...others]) await each.close()
})

test('half of a location that is offline pauses the job, and no room fails for it after a resume [contract 12.states]', async () => {
  const locationId = (await org.call('POST', '/locations', { body: { name: 'Bergen' } })).body.id
  const rooms = await newRooms(harness, org, 4, { locationId })
  const devices = rooms.map(({ device }) => device) as [TestDevice, TestDevice, TestDevice, TestDevice]
  const [changed, other, bystander] = devices
  const respect = { window: false, idle: false }
  const stages = [{ percent: 100 }]
  const target = targetOf(rooms.slice(0, 2))
  const { id } = await newJob(org, { target, action: night, stages, soakMinutes: 30, respect })
  for (const device of [changed, other]) await answerConfig(device)
  await jobOnce(org, id, 'both soak', ({ counts }) => counts.SOAKING === 2)
  harness.clock.advance(minuteMs)
  for (const device of [changed, bystander]) device.drop()
  const paused = await jobOnce(org, id, 'it is paused', ({ state }) => state === 'PAUSED')
  expect(paused.reason).toBe('2 of 4 devices of Bergen are offline.')
  harness.clock.advance(10 * minuteMs)
  const at = harness.clock.now()
  await newIncident(harness, org, { rule: 'device.offline', endpoints: [changed.id], since: at, openedAt: at })
  harness.clock.advance(minuteMs)
  for (const device of [changed, bystander]) await device.connect()
  expect((await org.call('POST', `/jobs/${id}/resume`)).body).toMatchObject({ counts: { SOAKING: 2 } })
  harness.clock.advance(30 * minuteMs)
  const ended = await jobOnce(org, id, 'it has ended', ({ state }) => state !== 'RUNNING')
  expect(ended).toMatchObject({ state: 'SUCCEEDED', counts: { SUCCEEDED: 2 } })
  for (const device of devices) await device.close()
})

test('an incident on a room that soaks stops the job, and what it changed returns [contract 12.states]', async () => {
  const rooms = await newRooms(harness, org, 2)
  const stages = [{ rooms: 1 }, { percent: 100 }]
  const respect = { window: false, idle: false }
  const { id } = await newJob(org, { target: targetOf(rooms), action: night, stages, respect })
  const [first] = await unitsOf(org, id)
  const soaking = rooms.find(({ device }) => device.id === first.endpoints[0].endpointId) as RoomWithDevice
  await answerConfig(soaking.device)
  await jobOnce(org, id, 'it soaks', ({ counts }) => counts.SOAKING === 1)
  harness.clock.advance(1000)
  const at = harness.clock.now()
  const incident = await newIncident(harness, org, { rooms: [soaking.roomId], since: at, openedAt: at })
  expect((await answerConfig(soaking.device)).config, 'the rollback').toEqual({})
  const job = await jobOnce(org, id, 'it is rolled back', ({ state }) => state === 'ROLLED_BACK')
  expect(job).toMatchObject({ stage: 1, counts: { ROLLED_BACK: 1, CANCELLED: 1 } })
  expect((await unitsOf(org, id))[0].reason).toBe(`incident ${incident} (storage.low) opened`)
  await Promise.all(rooms.map(({ device }) => device.close()))
})

test('a profile that locks the key before a room begins skips the room with skipConflicts, and fails it without [contract 12.job]', async () => {
  const { id: profileId } = (
    await org.call('POST', '/profiles', { body: { name: 'Day', config: { nightMode: false } } })
  ).body.profile
  for (const skipConflicts of [true, false]) {
    const rooms = await newRooms(harness, org, 1)
    const { device, roomId } = only(rooms)
    await device.close()
    const { id } = await newJob(org, { target: targetOf(rooms), action: night, skipConflicts, onFailure: 'pause' })
    await jobOnce(org, id, 'it waits', ({ waiting }) => waiting.connection === 1)
    await org.call('PUT', `/rooms/${roomId}/profile`, { body: { profileId } })
    await device.connect()
    const wanted = skipConflicts ? 'SUCCEEDED' : 'STOPPED'
    await jobOnce(org, id, `it is ${wanted}`, ({ state }) => state === wanted)
    expect((await unitsOf(org, id))[0]).toMatchObject({
      state: skipConflicts ? 'SKIPPED' : 'FAILED',
      reason: `profile ${profileId} locks nightMode`,
    })
    await device.close()
  }
})

/** Runs a job in another room to its end. */
async function endAnotherJob(): Promise<void> {
  const rooms = await newRooms(harness, org, 1)
  const { id } = await newJob(org, { target: targetOf(rooms), action: night })
  await answerConfig(only(rooms).device)
  await jobOnce(org, id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  await only(rooms).device.close()
}

test('soon after a pause is answered no further room begins, and after a resume the rest does [contract 12.states]', async () => {
  const rooms = await newRooms(harness, org, 6)
  const { id } = await newJob(org, { target: targetOf(rooms), action: night, pace: { atOnce: 1 } })
  const devices = rooms.map(({ device }) => device)
  const reached = () => devices.filter(({ received }) => received.length > 0)
  const answered = new Set<TestDevice>()
  const answerAll = async () => {
    for (const device of reached()) {
      if (answered.has(device)) continue
      answered.add(device)
      await answerConfig(device)
    }
  }
  await until('two rooms are reached', async () => {
    await answerAll()
    return reached().length >= 2
  })
  expect((await org.call('POST', `/jobs/${id}/pause`, { body: {} })).status).toBe(200)
  // The engine may have begun a room while it was told. When another job has ended, it has looked at this one several times since.
  await endAnotherJob()
  await answerAll()
  const count = reached().length
  await endAnotherJob()
  await answerAll()
  expect(reached()).toHaveLength(count)
  const begun = (await unitsOf(org, id)).filter(({ state }) => state !== 'PENDING' && state !== 'WAITING')
  expect(begun).toHaveLength(count)
  expect(begun.every(({ state }) => state === 'SUCCEEDED')).toBe(true)
  expect(count).toBeLessThan(rooms.length)
  await org.call('POST', `/jobs/${id}/resume`, { body: {} })
  await until('all rooms are reached', async () => {
    await answerAll()
    return reached().length === rooms.length
  })
  await jobOnce(org, id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  await Promise.all(devices.map((device) => device.close()))
})
