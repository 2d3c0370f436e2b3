// A staged job over displays that leave the network at night. [contract 8.state] [contract 12.states]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, quickTasks, type Reply, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { connectAnswering } from '../../../../test/support/jobs/answering-device.ts'
import { jobOnce, newJob, newRooms, unitsOf } from '../../../../test/support/jobs/job-devices.ts'
import { isFullForm } from '../../../../test/support/long-form.ts'
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
const roomStates = async () =>
  new Set((await org.call('GET', '/rooms')).body.rooms.map(({ state }: { state: string }) => state))

async function wake(display: TestDevice): Promise<void> {
  await connectAnswering(display)
  await display.publish('status', { sleeps: true, power: 'ON' })
}

async function sleep(display: TestDevice): Promise<void> {
  await display.publish('status', { power: 'STANDBY' })
  await display.close()
  await until('the display is asleep', async () => (await stateOf(display)) === 'ASLEEP')
}

const [roomCount, stages] = isFullForm
  ? [100, [{ rooms: 1 }, { percent: 10 }, { percent: 100 }]]
  : [4, [{ rooms: 1 }, { percent: 100 }]]

test(`a staged job waits for the displays of ${roomCount} rooms until they wake, its soak allows their sleep, and it succeeds without an incident`, async () => {
  const rooms = await newRooms(harness, org, roomCount)
  const second = isFullForm ? rooms : []
  const displays = [
    ...rooms.map(({ device }) => device),
    ...(await Promise.all(second.map(({ roomId }) => newDevice(harness, org, { roomId })))),
  ]
  // It is in the room of a target and sleeps throughout. The job does not wait for it.
  const bystander = await newDevice(harness, org, { roomId: rooms[0]?.roomId as number })
  const all = (step: (display: TestDevice) => Promise<void>) => Promise.all(displays.map(step))
  await all((display) => display.close())
  await all(wake)
  await all(sleep)
  await bystander.publish('status', { sleeps: true })
  await sleep(bystander)
  const { id } = await newJob(org, {
    target: { endpointIds: displays.map((display) => display.id) },
    action: { type: 'CONFIG', config: { nightMode: true } },
    stages,
    soakMinutes: 30,
    respect: { window: false, idle: false },
  })
  await jobOnce(org, id, 'its rooms wait', ({ waiting }) => waiting?.connection === roomCount)
  const units = await unitsOf(org, id)
  let done = 0
  for (const stage of stages.keys()) {
    const inStage = units.filter((unit) => unit.stage === stage + 1)
    expect(inStage.length).toBeGreaterThan(0)
    const targets = new Set(inStage.flatMap(({ endpoints }) => endpoints.map((one: Reply['body']) => one.endpointId)))
    const awake = displays.filter((display) => targets.has(display.id))
    harness.clock.advance(12 * hourMs)
    await Promise.all(awake.map(wake))
    await jobOnce(org, id, 'the rooms of the stage soak', ({ counts }) => counts.SOAKING === inStage.length)
    await Promise.all(awake.map(sleep))
    expect(await roomStates()).toEqual(new Set(['HEALTHY']))
    harness.clock.advance(31 * minuteMs)
    done += inStage.length
    await jobOnce(org, id, 'they are done', ({ counts }) => counts.SUCCEEDED === done)
  }
  await jobOnce(org, id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  expect((await unitsOf(org, id)).map(({ state }) => state)).toEqual(Array(roomCount).fill('SUCCEEDED'))
  expect((await org.call('GET', '/incidents?state=all')).body.incidents).toEqual([])
  expect(await stateOf(bystander)).toBe('ASLEEP')
})
