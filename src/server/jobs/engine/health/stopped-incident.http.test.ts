// The incident of a job whose rooms fail, from the rejected config to its end. [contract 10.rule]
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestDevice } from '../../../../../test/support/devices/test-device.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../../test/support/harness.ts'
import { answerConfig, jobOnce, newJob, newRooms } from '../../../../../test/support/jobs/job-devices.ts'
import { until } from '../../../../../test/support/program.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({ settleMinutes: 0 }, quickTasks)
  org = await harness.newOrg()
})
afterAll(() => harness.close())

/** A job that stops, because its only device rejects the setting. */
async function newFailingJob(onFailure: 'rollBack' | 'pause') {
  const [room] = await newRooms(harness, org, 1)
  const device = room?.device as TestDevice
  const action = { type: 'CONFIG', config: { nightMode: true } }
  const { id } = await newJob(org, { target: { roomIds: [room?.roomId] }, action, onFailure })
  await answerConfig(device, true)
  return { id: id as string, device }
}

const incidentsOf = async (job: string) =>
  (await org.call('GET', '/incidents?state=all&rule=job.stopped')).body.incidents.filter(
    ({ cause }: { cause: { id: string } }) => cause.id === job,
  )
const isIncident = (job: string, state: string) =>
  until(`the incident is ${state}`, async () => (await incidentsOf(job))[0]?.state === state, { timeoutMs: 15_000 })

test('a job that stops and is rolled back opens one incident, which ends with the job', async () => {
  const { id, device } = await newFailingJob('rollBack')
  await jobOnce(org, id, 'it is rolled back', ({ state }) => state === 'ROLLED_BACK')
  await isIncident(id, 'RESOLVED')
  expect(await incidentsOf(id)).toMatchObject([{ severity: 'WARNING', cause: { level: 'JOB' }, occurrences: 1 }])
  await device.close()
})

test('the incident of a job that waits for people after its stop lasts until it is resumed', async () => {
  const { id, device } = await newFailingJob('pause')
  await jobOnce(org, id, 'it is stopped', ({ state }) => state === 'STOPPED')
  await isIncident(id, 'OPEN')
  expect((await org.call('POST', `/jobs/${id}/resume`, { body: {} })).status).toBe(200)
  await isIncident(id, 'RESOLVED')
  expect(await incidentsOf(id)).toHaveLength(1)
  await device.close()
})
