// A staged job over displays that leave the network at night. [contract 8.state] [contract 12.states]
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { connectAnswering } from '../../../../test/support/jobs/answering-device.ts'
import { jobOnce, newJob, newRooms, unitsOf } from '../../../../test/support/jobs/job-devices.ts'
import { until } from '../../../../test/support/program.ts'
import { hourMs, minuteMs } from '../../../contract/durations.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({ settleMinutes: 0 }, quickTasks)
  org = await harness.newOrg()
})
afterAll(() => harness.close())

const stateOf = async ({ id }: TestDevice) => (await org.call('GET', `/endpoints/${id}`)).body.state
const stateOfRoom = async (id: number) => (await org.call('GET', `/rooms/${id}`)).body.state

async function wake(display: TestDevice): Promise<void> {
  await connectAnswering(display)
  await display.publish('status', { sleeps: true, power: 'ON' })
}

async function sleep(display: TestDevice): Promise<void> {
  await display.publish('status', { power: 'STANDBY' })
  await display.close()
  await until('the display is asleep', async () => (await stateOf(display)) === 'ASLEEP')
}

test('a staged job waits for each display until it wakes, its soak allows their sleep, and it succeeds without an incident', async () => {
  const rooms = await newRooms(harness, org, 4)
  const displays = rooms.map(({ device }) => device)
  const all = (step: (display: TestDevice) => Promise<void>) => Promise.all(displays.map(step))
  await all((display) => display.close())
  await all(wake)
  await all(sleep)
  const { id } = await newJob(org, {
    target: { roomIds: rooms.map(({ roomId }) => roomId) },
    action: { type: 'CONFIG', config: { nightMode: true } },
    stages: [{ rooms: 1 }, { percent: 100 }],
    soakMinutes: 30,
    respect: { window: false, idle: false },
  })
  await jobOnce(org, id, 'its rooms wait', ({ waiting }) => waiting?.connection === 4)
  const mornings = [displays.slice(0, 1), displays.slice(1)]
  for (const awake of mornings) {
    harness.clock.advance(12 * hourMs)
    await Promise.all(awake.map(wake))
    await jobOnce(org, id, 'the rooms of those that are awake soak', ({ counts }) => counts.SOAKING === awake.length)
    await Promise.all(awake.map(sleep))
    harness.clock.advance(31 * minuteMs)
    await jobOnce(org, id, 'they are done', ({ counts }) => !counts.SOAKING && counts.SUCCEEDED >= awake.length)
    for (const { roomId } of rooms) expect(await stateOfRoom(roomId)).toBe('HEALTHY')
  }
  await jobOnce(org, id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  expect((await unitsOf(org, id)).map(({ state }) => state)).toEqual(Array(4).fill('SUCCEEDED'))
  expect((await org.call('GET', '/incidents?state=all')).body.incidents).toEqual([])
})
