// Jobs that end with real devices and are rolled back: profiles of rooms, and rooms that are in use then. [contract 12.rollback]
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestDevice } from '../../../../../test/support/devices/test-device.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../../test/support/harness.ts'
import {
  answerConfig,
  jobOnce,
  newJob,
  newRooms,
  type RoomWithDevice,
  unitsOf,
} from '../../../../../test/support/jobs/job-devices.ts'
import { until } from '../../../../../test/support/program.ts'
import { minuteMs } from '../../../../contract/durations.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({ settleMinutes: 0 }, quickTasks)
  org = await harness.newOrg()
})
afterAll(() => harness.close())

const isRolledBack = ({ state }: { state: string }) => state === 'ROLLED_BACK'

test('after an ASSIGN_PROFILE job rooms and devices get back the profiles that they had, and others keep theirs', async () => {
  const newProfile = async (name: string, config: object): Promise<number> =>
    (await org.call('POST', '/profiles', { body: { name, config } })).body.profile.id
  const [before, quiet] = [
    await newProfile('Before', { bluetooth: true }),
    await newProfile('Quiet', { nightMode: true }),
  ]
  const [changed, same] = (await newRooms(harness, org, 2)) as [RoomWithDevice, RoomWithDevice]
  const assign = async (path: string, profileId: number) =>
    expect((await org.call('PUT', `${path}/profile`, { body: { profileId } })).status).toBe(200)
  await assign(`/rooms/${changed.roomId}`, before)
  await answerConfig(changed.device)
  // This device has the profile of the job already, and its room has none.
  await assign(`/endpoints/${same.device.id}`, quiet)
  await answerConfig(same.device)
  const profiles = async () => {
    const read = async (path: string) => (await org.call('GET', path)).body.profileId ?? null
    return Promise.all(
      [changed, same].flatMap(({ roomId, device }) => [read(`/rooms/${roomId}`), read(`/endpoints/${device.id}`)]),
    )
  }
  expect(await profiles()).toEqual([before, before, null, quiet])

  const target = { roomIds: [changed.roomId, same.roomId] }
  const { id } = await newJob(org, { target, action: { type: 'ASSIGN_PROFILE', profileId: quiet } })
  expect((await answerConfig(changed.device)).config).toEqual({ nightMode: true })
  await jobOnce(org, id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  expect(await profiles()).toEqual([quiet, quiet, quiet, quiet])

  expect((await org.call('POST', `/jobs/${id}/roll_back`, { body: {} })).status).toBe(200)
  expect((await answerConfig(changed.device)).config).toEqual({ bluetooth: true })
  await jobOnce(org, id, 'it is rolled back', isRolledBack)
  expect(await profiles()).toEqual([before, before, null, quiet])
  for (const { device } of [changed, same]) await device.close()
})

test('the rollback of a job that respects idle rooms waits until a call has been over for 10 minutes', async () => {
  const [room] = (await newRooms(harness, org, 1)) as [RoomWithDevice]
  const device: TestDevice = room.device
  await device.publish('status', { inCallStatus: 'NONE' })
  harness.clock.advance(11 * minuteMs)
  const action = { type: 'CONFIG', config: { nightMode: true } }
  const { id } = await newJob(org, {
    ...{ target: { roomIds: [room.roomId] }, action, respect: { idle: true, window: false } },
  })
  await answerConfig(device)
  await jobOnce(org, id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  await device.publish('status', { inCallStatus: 'ZOOM' })
  expect((await org.call('POST', `/jobs/${id}/roll_back`, { body: {} })).status).toBe(200)
  const reason = async () => (await unitsOf(org, id))[0].reason
  await until('it waits', async () => (await reason()) !== undefined)
  expect(await reason()).toBe('The rollback waits until the room is empty.')
  expect((await org.call('GET', `/endpoints/${device.id}/config`)).body).toMatchObject({ nightMode: true })
  await device.publish('status', { inCallStatus: 'NONE' })
  harness.clock.advance(11 * minuteMs)
  expect((await answerConfig(device)).config).toEqual({})
  await jobOnce(org, id, 'it is rolled back', isRolledBack)
  await device.close()
})
