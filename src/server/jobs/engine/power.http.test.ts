// A POWER job with real devices: staged, with devices that leave the network when they are off. [contract 8.power] [contract 12.states]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { jobOnce, newJob, newRooms, unitsOf } from '../../../../test/support/jobs/job-devices.ts'
import { until } from '../../../../test/support/program.ts'
import { minuteMs } from '../../../contract/durations.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({ settleMinutes: 0 }, quickTasks)
  org = await harness.newOrg()
})
afterAll(() => harness.close())

async function newDisplays(count: number): Promise<{ roomIds: number[]; displays: TestDevice[] }> {
  const rooms = await newRooms(harness, org, count)
  for (const { device } of rooms) await device.publish('status', { actions: ['power'], power: 'ON' })
  return { roomIds: rooms.map(({ roomId }) => roomId), displays: rooms.map(({ device }) => device) }
}

test('a staged job switches off, waits for idle rooms by default, and its soak allows devices that left the network', async () => {
  const { roomIds, displays } = await newDisplays(2)
  const body = {
    target: { roomIds },
    action: { type: 'POWER', on: false },
    stages: [{ rooms: 1 }, { percent: 100 }],
    soakMinutes: 30,
  }
  const { id, respect } = await newJob(org, body)
  expect(respect).toEqual({ window: true, idle: true })
  const switchOff = async (isOpen: (display: TestDevice) => boolean) => {
    await jobOnce(org, id, 'a room runs', ({ counts }) => counts.RUNNING === 1)
    const display = await until('a display got the command', () =>
      displays.find((one) => isOpen(one) && one.received.some(({ kind }) => kind === 'operation')),
    )
    expect(await display.next('operation')).toMatchObject({ type: 'POWER', on: false })
    await display.publish('status', { power: 'OFF' })
    await display.close()
    return display
  }
  const first = await switchOff(() => true)
  await jobOnce(org, id, 'the first room soaks', ({ counts }) => counts.SOAKING === 1)
  harness.clock.advance(31 * minuteMs)
  const second = await switchOff((display) => display !== first)
  expect(second).toBeDefined()
  await jobOnce(org, id, 'the second room soaks', ({ counts }) => counts.SOAKING === 1 && counts.SUCCEEDED === 1)
  harness.clock.advance(31 * minuteMs)
  await jobOnce(org, id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  expect((await unitsOf(org, id)).map(({ state }) => state)).toEqual(['SUCCEEDED', 'SUCCEEDED'])
  expect((await org.call('POST', `/jobs/${id}/roll_back`, { body: {} })).body.code).toBe('FAILED_PRECONDITION')
})

test('a display that is asleep is skipped: another one of its room is switched, and a room without another is skipped', async () => {
  const { roomIds, displays } = await newDisplays(2)
  const [awake, alone] = displays as [TestDevice, TestDevice]
  const neighbour = await newDevice(harness, org, { roomId: roomIds[0] as number })
  await awake.publish('status', { power: 'STANDBY' })
  for (const display of [neighbour, alone]) {
    await display.publish('status', { actions: ['power'], sleeps: true, power: 'STANDBY' })
    await display.close()
    const stateOf = async () => (await org.call('GET', `/endpoints/${display.id}`)).body.state
    await until('it is asleep', async () => (await stateOf()) === 'ASLEEP')
  }
  const body = { target: { roomIds }, action: { type: 'POWER', on: true } }
  const reason = 'The device is asleep and cannot be reached.'
  const planned = (await org.call('POST', '/jobs/plan', { body: { name: 'On', ...body } })).body
  expect(planned.rooms.map(({ outcome, reason }: { outcome: string; reason?: string }) => [outcome, reason])).toEqual([
    ['now', undefined],
    ['skipped', reason],
  ])
  const { id } = await newJob(org, body)
  expect(await awake.next('operation', 15_000)).toMatchObject({ type: 'POWER', on: true })
  await awake.publish('status', { power: 'ON' })
  await jobOnce(org, id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  const units = await unitsOf(org, id)
  expect(units.map((unit) => [unit.roomIds, unit.state, unit.reason])).toEqual([
    [[roomIds[0]], 'SUCCEEDED', undefined],
    [[roomIds[1]], 'SKIPPED', reason],
  ])
  const { endpoints } = units[0]
  expect(endpoints.find((one: { endpointId: string }) => one.endpointId === neighbour.id)).toMatchObject({
    state: 'SKIPPED',
    error: reason,
  })
  await awake.close()
})

test('a job that switches on does not wait for idle rooms; a device that ignores it fails its room', async () => {
  const { roomIds, displays } = await newDisplays(1)
  const [display] = displays as [TestDevice]
  await display.publish('status', { power: 'STANDBY' })
  const stages = [{ percent: 100 }]
  const { id, respect } = await newJob(org, { target: { roomIds }, action: { type: 'POWER', on: true }, stages })
  expect(respect).toEqual({ window: true, idle: false })
  expect(await display.next('operation', 15_000)).toMatchObject({ type: 'POWER', on: true })
  harness.clock.advance(6 * minuteMs)
  await jobOnce(org, id, 'it has failed', ({ counts }) => counts.FAILED === 1)
  expect((await unitsOf(org, id))[0]).toMatchObject({
    reason: 'The device did not answer before the deadline of the command.',
  })
  await display.close()
})
