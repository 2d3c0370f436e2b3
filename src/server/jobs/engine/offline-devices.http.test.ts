// Tests that a device which is offline holds up neither the message of its room, nor other jobs, nor a step with If-Match. [contract 12.states]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, quickTasks, startHarness } from '../../../../test/support/harness.ts'
import { answerCommand, answerConfig, jobOnce, newJob, unitsOf } from '../../../../test/support/jobs/job-devices.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({ settleMinutes: 0 }, quickTasks)
})
afterAll(() => harness.close())

test('in a room with a dead device the other one gets the message, and other jobs go on', async () => {
  const org = await harness.newOrg()
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const bar = await newDevice(harness, org, { roomId })
  const dead = await newDevice(harness, org, { roomId })
  await dead.close()
  const target = { roomIds: [roomId] }
  const waiting = await newJob(org, { target, action: { type: 'CONFIG', config: { nightMode: true } } })
  await jobOnce(org, waiting.id, 'it waits', (job) => job.waiting.connection === 1 && job.stage === 1)
  const etag = (await org.call('GET', `/jobs/${waiting.id}`)).headers.get('etag') ?? ''
  const barOnly = { endpointIds: [bar.id] }
  const later = await newJob(org, { target: barOnly, action: { type: 'CONFIG', config: { bluetooth: true } } })
  await answerConfig(bar)
  await jobOnce(org, later.id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  const message = await newJob(org, { target, action: { type: 'MESSAGE', message: 'Cleaning at 18:00' } })
  await answerCommand(bar)
  await jobOnce(org, message.id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  const [unit] = await unitsOf(org, message.id)
  const states = unit.endpoints.map((e: { endpointId: string; state: string }) => [e.endpointId, e.state])
  expect(Object.fromEntries(states)).toEqual({ [bar.id]: 'DONE', [dead.id]: 'SKIPPED' })
  // The unit makes progress, and the version that was read before is still the one of the job.
  await dead.connect()
  await jobOnce(org, waiting.id, 'it runs', ({ counts }) => counts.RUNNING === 1)
  const paused = await org.call('POST', `/jobs/${waiting.id}/pause`, { body: {}, headers: { 'If-Match': etag } })
  expect(paused.status, paused.text).toBe(200)
  await Promise.all([bar.close(), dead.close()])
})
