// The option --idle-minutes decides when a room is idle, for reboots that wait, for jobs and for their plans. [contract 12.idle]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice } from '../../../../../test/support/devices/test-device.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../../test/support/harness.ts'
import { answerConfig, jobOnce, newJob } from '../../../../../test/support/jobs/job-devices.ts'
import { minuteMs } from '../../../../contract/durations.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({ idleMinutes: 3 }, quickTasks)
  org = await harness.newOrg()
})
afterAll(() => harness.close())

async function newDeviceInCall() {
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id as number
  const device = await newDevice(harness, org, { roomId, model: 'NF21C1' })
  await device.publish('status', { inCallStatus: 'ZOOM' })
  return { device, roomId }
}

test('with --idle-minutes 3 a reboot is sent when a call has been over for three minutes', async () => {
  const { device } = await newDeviceInCall()
  const reply = await org.call('POST', `/endpoints/${device.id}/reboot`, { body: { when: 'idle' } })
  expect(reply.body.operations).toMatchObject([{ state: 'QUEUED', waitsFor: 'idle' }])
  await device.publish('status', { inCallStatus: 'NONE' })
  harness.clock.advance(4 * minuteMs)
  expect(await device.next('operation', 15_000)).toMatchObject({ type: 'REBOOT', onlyIfIdle: true })
  await device.close()
})

test('with --idle-minutes 3 a job begins when a call has been over for three minutes, and its plan says so', async () => {
  const { device, roomId } = await newDeviceInCall()
  const job = {
    ...{ target: { roomIds: [roomId] }, action: { type: 'CONFIG', config: { nightMode: true } } },
    respect: { idle: true, window: false },
  }
  const outcome = async () =>
    (await org.call('POST', '/jobs/plan', { body: { name: 'Night', ...job } })).body.rooms[0].outcome
  const { id } = await newJob(org, job)
  await jobOnce(org, id, 'it waits', ({ waiting }) => waiting.idle === 1)
  await device.publish('status', { inCallStatus: 'NONE' })
  harness.clock.advance(2 * minuteMs)
  expect(await outcome()).toBe('waits')
  harness.clock.advance(2 * minuteMs)
  expect(await outcome()).toBe('now')
  await answerConfig(device)
  await jobOnce(org, id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  await device.close()
})
