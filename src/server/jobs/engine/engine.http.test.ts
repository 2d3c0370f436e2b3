// Jobs with real devices: from a request to configs, commands, audit entries and the end of the job. [contract 12.states]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { follow } from '../../../../test/support/event-follower.ts'
import { type Harness, quickTasks, startHarness } from '../../../../test/support/harness.ts'
import {
  answerCommand,
  answerConfig,
  jobOnce,
  newJob,
  newRooms,
  unitsOf,
} from '../../../../test/support/jobs/job-devices.ts'
import { minuteMs } from '../../../contract/durations.ts'
import { maxTargetEndpoints } from '../../../contract/jobs/job-request.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({ settleMinutes: 0 }, quickTasks)
})
afterAll(() => harness.close())

test('a bulk CONFIG job changes all devices, waits for one that is offline, and ends with it [contract 12.states]', async () => {
  const org = await harness.newOrg()
  const rooms = await newRooms(harness, org, 3)
  const [first, second, third] = rooms.map(({ device }) => device)
  await third?.close()
  const follower = await follow(org.client, { types: 'job' })
  const target = { roomIds: rooms.map(({ roomId }) => roomId) }
  const { id } = await newJob(org, { target, action: { type: 'CONFIG', config: { nightMode: true } } })
  expect((await follower.next('job')).job).toEqual({ id, state: 'RUNNING' })
  for (const device of [first, second])
    expect((await answerConfig(device as TestDevice)).config).toEqual({ nightMode: true })
  const waiting = await jobOnce(
    org,
    id,
    'one unit waits',
    ({ counts }) => counts.SUCCEEDED === 2 && counts.WAITING === 1,
  )
  expect(waiting).toMatchObject({ state: 'RUNNING', stage: 1, waiting: { connection: 1 } })
  await third?.connect()
  await answerConfig(third as TestDevice)
  const ended = await jobOnce(org, id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  expect(ended).toMatchObject({ counts: { SUCCEEDED: 3 }, stageCounts: [{ unitCount: 3 }] })
  const [unit] = await unitsOf(org, id)
  expect(unit).toMatchObject({ state: 'SUCCEEDED', endpoints: [{ state: 'DONE', versionBefore: 0, versionAfter: 1 }] })
  const entries = await org.audit()
  const ofJob = entries.filter(({ details }: { details: { jobId?: string } }) => details.jobId === id)
  const effect = { type: 'DEVICE_CONFIG_CHANGED', actor: { type: 'KEY', name: 'Test key' } }
  expect(ofJob).toMatchObject(Array(3).fill(effect))
  expect(entries.filter(({ target }: { target: { type: string } }) => target.type === 'job')).toMatchObject([
    { type: 'JOB_ENDED', actor: { type: 'SYSTEM' }, details: { after: { state: 'SUCCEEDED' } } },
    { type: 'JOB_STAGE_STARTED', actor: { type: 'SYSTEM' } },
    { type: 'JOB_CREATED' },
  ])
  await Promise.all(rooms.map(({ device }) => device.close()))
})

test('too many failures stop a staged job before its second stage, and everything that it changed is rolled back [contract 12.rollback]', async () => {
  const org = await harness.newOrg()
  const rooms = await newRooms(harness, org, 3)
  const target = { roomIds: rooms.map(({ roomId }) => roomId) }
  const stages = [{ rooms: 2 }, { percent: 100 }]
  const respect = { window: false, idle: false }
  const action = { type: 'CONFIG', config: { nightMode: true } }
  const { id } = await newJob(org, { target, action, stages, soakMinutes: 5, respect })
  const units = await unitsOf(org, id)
  const deviceOf = (number: number) => {
    const endpointId = units[number - 1].endpoints[0].endpointId
    return rooms.find(({ device }) => device.id === endpointId)?.device as TestDevice
  }
  await answerConfig(deviceOf(1))
  await answerConfig(deviceOf(2), true)
  // The devices get the rollback as a new version without the key.
  expect((await answerConfig(deviceOf(1))).config).toEqual({})
  const job = await jobOnce(org, id, 'it is rolled back', ({ state }) => state === 'ROLLED_BACK')
  expect(job).toMatchObject({ counts: { ROLLED_BACK: 2, CANCELLED: 1 }, stage: 1, failedCount: 1 })
  const list = async (query: string) => (await org.call('GET', `/jobs/${id}/rooms?${query}`)).body
  const failed = { number: 2, state: 'ROLLED_BACK', failure: expect.stringContaining('Night mode: ') }
  expect((await list('failed=true')).rooms, 'the mark stays after the rollback [contract 12.rooms]').toMatchObject([
    failed,
  ])
  const numbersOf = ({ rooms }: { rooms: { number: number }[] }) => rooms.map(({ number }) => number)
  const first = await list('order=attention&pageSize=2')
  expect(numbersOf(first)).toEqual([2, 3])
  expect(numbersOf(await list(`order=attention&pageSize=2&pageToken=${first.nextPageToken}`))).toEqual([1])
  expect(numbersOf(await list('failed=false'))).toEqual([1, 3])
  const [, , { name }] = units
  expect(numbersOf(await list(`text=${encodeURIComponent(name.toUpperCase())}`))).toEqual([3])
  expect(numbersOf(await list('text=nowhere'))).toEqual([])
  const types = (await org.audit()).map(({ type }) => type)
  expect(types).toContain('JOB_STOPPED')
  expect(types.filter((type) => type === 'JOB_STAGE_STARTED')).toHaveLength(1)
  expect(deviceOf(3).received).toEqual([])
  await Promise.all(rooms.map(({ device }) => device.close()))
})

test('units soak, a manual stage waits for a resume, and a retry tries failed units again [contract 12.states]', async () => {
  const org = await harness.newOrg()
  const rooms = await newRooms(harness, org, 2)
  const target = { roomIds: rooms.map(({ roomId }) => roomId) }
  const stages = [{ rooms: 1 }, { percent: 100, manual: true }]
  const action = { type: 'MESSAGE', message: 'Cleaning at 18:00' }
  const { id } = await newJob(org, { target, action, stages, soakMinutes: 30, respect: { window: false } })
  const units = await unitsOf(org, id)
  const deviceOf = (number: number) =>
    rooms.find(({ device }) => device.id === units[number - 1].endpoints[0].endpointId)?.device as TestDevice
  expect(await answerCommand(deviceOf(1))).toMatchObject({ type: 'MESSAGE', message: 'Cleaning at 18:00' })
  await jobOnce(org, id, 'it soaks', ({ counts }) => counts.SOAKING === 1)
  harness.clock.advance(30 * minuteMs)
  const paused = await jobOnce(org, id, 'it is paused', ({ state }) => state === 'PAUSED')
  expect(paused).toMatchObject({
    stage: 2,
    reason: 'Stage 2 waits for approval. Resume the job to start it.',
    counts: { PENDING: 1 },
  })
  expect((await org.call('POST', `/jobs/${id}/resume`, { body: {} })).status).toBe(200)
  await answerCommand(deviceOf(2), 'no screen')
  const stopped = await jobOnce(org, id, 'it is stopped', ({ state }) => state === 'STOPPED')
  expect(stopped).toMatchObject({ counts: { SUCCEEDED: 1, FAILED: 1 } })
  expect((await unitsOf(org, id))[1]).toMatchObject({ state: 'FAILED', reason: 'no screen' })
  const retried = await org.call('POST', `/jobs/${id}/retry`, { body: {} })
  expect([retried.status, stopped.failedCount, retried.body.failedCount]).toEqual([200, 1, 0])
  await answerCommand(deviceOf(2))
  await jobOnce(org, id, 'it soaks', ({ counts }) => counts.SOAKING === 1)
  harness.clock.advance(30 * minuteMs)
  await jobOnce(org, id, 'it has ended', ({ state, attempt }) => state === 'SUCCEEDED' && attempt === 2)
  await Promise.all(rooms.map(({ device }) => device.close()))
})

test('after a resume only new failures count, and channels hear of the stop, the resume and the end [contract 12.states]', async () => {
  const org = await harness.newOrg()
  const rooms = await newRooms(harness, org, 3)
  const events = ['job.stopped', 'job.resumed', 'job.ended']
  const channel = { name: 'Jobs', kind: 'webhook', url: 'https://127.0.0.1:9/jobs', enabled: false, events }
  expect((await org.call('POST', '/channels', { body: channel })).status).toBe(200)
  const target = { roomIds: rooms.map(({ roomId }) => roomId) }
  const action = { type: 'CONFIG', config: { nightMode: true } }
  const { id } = await newJob(org, { target, action, pace: { atOnce: 1 }, onFailure: 'pause' })
  const units = await unitsOf(org, id)
  const answer = (number: number, rejects = false) => {
    const { endpointId } = units[number - 1].endpoints[0]
    return answerConfig(rooms.find(({ device }) => device.id === endpointId)?.device as TestDevice, rejects)
  }
  await answer(1, true)
  await jobOnce(org, id, 'it is stopped', ({ state }) => state === 'STOPPED')
  expect((await org.call('POST', `/jobs/${id}/resume`)).status).toBe(200)
  await answer(2)
  await answer(3)
  // One of three has failed, which would be too many.
  const ended = await jobOnce(org, id, 'it does not run', ({ state }) => state !== 'RUNNING')
  expect(ended).toMatchObject({ state: 'INCOMPLETE', counts: { FAILED: 1, SUCCEEDED: 2 } })
  const messages = await harness.services.db.system.kysely
    .selectFrom('messages')
    .select('type')
    .where('org', '=', org.org.key)
    .where('order_key', '=', `job ${id}`)
    .orderBy('number')
    .execute()
  expect(messages.map(({ type }) => type)).toEqual(events)
  await Promise.all(rooms.map(({ device }) => device.close()))
})

test('a job whose actor lost the right is paused and says so, and the person who resumes it becomes the actor [contract 12.rights]', async () => {
  const org = await harness.newOrg()
  const [room] = await newRooms(harness, org, 1)
  await room?.device.close()
  const key = (await org.call('POST', '/keys', { body: { name: 'Robot', scopes: ['read', 'write'] } })).body
  const made = await org.call('POST', '/jobs', {
    key: key.key,
    body: {
      name: 'Night',
      start: true,
      target: { roomIds: [room?.roomId] },
      action: { type: 'CONFIG', config: { nightMode: true } },
    },
  })
  const { id } = made.body
  await jobOnce(org, id, 'it waits', ({ waiting }) => waiting.connection === 1)
  await org.call('DELETE', `/keys/${key.id}`)
  await room?.device.connect()
  const paused = await jobOnce(org, id, 'it is paused', ({ state }) => state === 'PAUSED')
  expect(paused.reason).toBe('Robot no longer has access to this organisation.')
  expect(room?.device.received).toEqual([])
  await org.call('POST', `/jobs/${id}/resume`, { body: {} })
  await answerConfig(room?.device as TestDevice)
  const ended = await jobOnce(org, id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  expect(ended.startedBy).toMatchObject({ type: 'KEY', name: 'Test key' })
  const effects = (await org.audit()).filter(({ details }: { details: { jobId?: string } }) => details.jobId === id)
  expect(effects).toMatchObject([{ type: 'DEVICE_CONFIG_CHANGED', actor: { type: 'KEY', name: 'Test key' } }])
  await room?.device.close()
})

test('profiles are assigned to rooms and their devices, and moves need no connection [contract 12.job]', async () => {
  const org = await harness.newOrg()
  const [room] = await newRooms(harness, org, 1)
  const profile = (await org.call('POST', '/profiles', { body: { name: 'Quiet', config: { nightMode: true } } })).body
    .profile
  const target = { roomIds: [room?.roomId] }
  const assigned = await newJob(org, { target, action: { type: 'ASSIGN_PROFILE', profileId: profile.id } })
  expect((await answerConfig(room?.device as TestDevice)).config).toEqual({ nightMode: true })
  await jobOnce(org, assigned.id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  expect((await org.call('GET', `/rooms/${room?.roomId}`)).body.profileId).toBe(profile.id)
  // A room keeps its profile if only some of its devices are targeted.
  const other = await newDevice(harness, org, { roomId: room?.roomId as number })
  const part = { endpointIds: [room?.device.id] }
  const cleared = await newJob(org, { target: part, action: { type: 'ASSIGN_PROFILE', profileId: null } })
  expect((await answerConfig(room?.device as TestDevice)).config).toEqual({})
  await jobOnce(org, cleared.id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  expect((await org.call('GET', `/rooms/${room?.roomId}`)).body.profileId).toBe(profile.id)
  await Promise.all([room?.device.close(), other.close()])
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'New' } })).body.id
  const move = async (to: number | undefined, more: object = {}) => {
    const { id } = await newJob(org, { target: part, action: { type: 'MOVE', roomId: to, ...more } })
    await jobOnce(org, id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
    const { body } = await org.call('GET', `/endpoints/${room?.device.id}`)
    return { roomId: body.roomId, profileId: body.profileId ?? null }
  }
  expect(await move(roomId)).toEqual({ roomId, profileId: null })
  const back = await move(room?.roomId, { assignRoomProfile: true })
  expect(back).toEqual({ roomId: room?.roomId, profileId: profile.id })
})

test('a paused job begins nothing, two jobs take turns, and what has not begun at the deadline expires [contract 12.states]', async () => {
  const org = await harness.newOrg()
  const [room] = await newRooms(harness, org, 1)
  const target = { roomIds: [room?.roomId] }
  const action = (nightMode: boolean) => ({ type: 'CONFIG', config: { nightMode } })
  await room?.device.close()
  const first = await newJob(org, { target, action: action(true) })
  const deadline = new Date(harness.clock.now() + 60 * minuteMs).toISOString()
  const second = await newJob(org, { target, action: action(false), deadline })
  await jobOnce(org, first.id, 'it waits', ({ waiting }) => waiting.connection === 1)
  await org.call('POST', `/jobs/${second.id}/pause`, { body: {} })
  await room?.device.connect()
  await jobOnce(org, first.id, 'it runs', ({ counts }) => counts.RUNNING === 1)
  await org.call('POST', `/jobs/${second.id}/resume`, { body: {} })
  await jobOnce(org, second.id, 'it waits for the other', ({ waiting }) => waiting['other job'] === 1)
  await org.call('POST', `/jobs/${second.id}/pause`, { body: {} })
  await answerConfig(room?.device as TestDevice)
  await jobOnce(org, first.id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  harness.clock.advance(60 * minuteMs)
  await jobOnce(org, second.id, 'its unit has expired', ({ counts }) => counts.EXPIRED === 1)
  await org.call('POST', `/jobs/${second.id}/resume`, { body: {} })
  expect(await jobOnce(org, second.id, 'it has ended', ({ state }) => state === 'INCOMPLETE')).toMatchObject({
    reason: '1 of 1 room expired.',
  })
  expect(room?.device.received).toHaveLength(1)
  await room?.device.close()
})

test('with includeNew an endpoint that matches later joins a running job as a unit of its last stage [contract 12.job]', async () => {
  const org = await harness.newOrg()
  const [room] = await newRooms(harness, org, 1)
  await room?.device.close()
  const action = { type: 'CONFIG', config: { nightMode: true } }
  const target = { models: ['NF19B1'] }
  const frozen = await newJob(org, { target, action, includeNew: false })
  const { id } = await newJob(org, { target, action, includeNew: true })
  await jobOnce(org, id, 'it waits', ({ waiting }) => waiting.connection === 1)
  const [later] = await newRooms(harness, org, 1)
  harness.clock.advance(minuteMs)
  await answerConfig(later?.device as TestDevice)
  const joined = await jobOnce(org, id, 'it is done there', ({ counts }) => counts.SUCCEEDED === 1)
  expect(joined).toMatchObject({ state: 'RUNNING', unitCount: 2, endpointCount: 2, counts: { WAITING: 1 } })
  expect((await org.audit()).filter(({ type }) => type === 'JOB_EXTENDED')).toHaveLength(1)
  expect((await org.call('GET', `/jobs/${frozen.id}`)).body).toMatchObject({ state: 'RUNNING', unitCount: 1 })
  await later?.device.close()
})

test('endpoints that match later do not join a job that would have more than 100,000 with them [contract 12.job]', async () => {
  const org = await harness.newOrg()
  const devices = await newRooms(harness, org, 1)
  const make = () =>
    newJob(org, {
      target: { models: ['NF19B1'] },
      action: { type: 'CONFIG', config: { nightMode: true } },
      includeNew: true,
    })
  for (const { device } of devices) await device.close()
  const [full, other] = [await make(), await make()]
  await jobOnce(org, full.id, 'it waits', ({ waiting }) => waiting.connection === 1)
  await harness.services.db.systemTransaction(({ kysely }) =>
    kysely
      .updateTable('jobs')
      .set({ endpoint_count: maxTargetEndpoints - 1 })
      .where('org', '=', org.org.key)
      .where('id', '=', Number(full.id))
      .execute(),
  )
  for (const { device } of await newRooms(harness, org, 2)) await device.close()
  harness.clock.advance(minuteMs)
  await jobOnce(org, other.id, 'they join another job', ({ unitCount }) => unitCount === 3)
  expect((await org.call('GET', `/jobs/${full.id}`)).body).toMatchObject({ unitCount: 1 })
})
