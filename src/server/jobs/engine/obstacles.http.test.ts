// Jobs that meet an obstacle with real devices: a deleted room, a rejected profile, an error of the service. [contract 12.rights]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { put } from '../../../../test/support/devices/log-bundles.ts'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import {
  answerCommand,
  answerConfig,
  jobOnce,
  newJob,
  newRooms,
  unitsOf,
} from '../../../../test/support/jobs/job-devices.ts'
import { newPerson } from '../../../../test/support/person.ts'
import { minuteMs } from '../../../contract/durations.ts'

let harness: Harness
/** One organisation for all tests: a node needs about a second until it runs the tasks of a new one. */
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({ settleMinutes: 0 }, quickTasks)
  org = await harness.newOrg()
})
afterAll(() => harness.close())

const step = (id: string, name: string) => org.call('POST', `/jobs/${id}/${name}`, { body: {} })

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

test('a job does not fail because of a key that the device rejected in an earlier job [contract 12.states]', async () => {
  const [room] = await newRooms(harness, org, 1)
  const device = room?.device as TestDevice
  const target = { roomIds: [room?.roomId] }
  const run = (config: object) => newJob(org, { target, action: { type: 'CONFIG', config }, onFailure: 'pause' })
  const first = await run({ nightMode: true })
  await answerConfig(device, true)
  await jobOnce(org, first.id, 'it has failed', isOver)
  const second = await run({ bluetooth: true })
  await answerConfig(device)
  await jobOnce(org, second.id, 'it has ended', ({ state }) => state === 'SUCCEEDED')
  expect((await org.call('GET', `/endpoints/${device.id}/config/state`)).body.state).toBe('FAILED')
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

test('devices that lose the action before their turn are skipped with the reason, and so is a room of such devices [contract 5.1.actions]', async () => {
  const [mixed, sensors] = await newRooms(harness, org, 2)
  const [bar, alone] = [mixed?.device as TestDevice, sensors?.device as TestDevice]
  const other = await newDevice(harness, org, { roomId: mixed?.roomId as number })
  const startAt = new Date(harness.clock.now() + 10 * minuteMs).toISOString()
  const target = { roomIds: [mixed?.roomId, sensors?.roomId] }
  const { id } = await newJob(org, { target, action: { type: 'REBOOT' }, startAt })
  for (const device of [other, alone]) await device.publish('status', { actions: ['message'] })
  harness.clock.advance(11 * minuteMs)
  expect((await bar.next('operation')).type).toBe('REBOOT')
  await jobOnce(org, id, 'a room is skipped', ({ counts }) => counts.SKIPPED === 1 && counts.RUNNING === 1)
  const error = 'The device cannot be restarted remotely.'
  const units = await unitsOf(org, id)
  const unitOf = (roomId: number | undefined) => units.find(({ roomIds }) => roomIds[0] === roomId)
  expect(unitOf(sensors?.roomId)).toMatchObject({ state: 'SKIPPED', reason: error })
  expect(
    unitOf(mixed?.roomId)?.endpoints.find((one: { endpointId: string }) => one.endpointId === other.id),
  ).toMatchObject({ state: 'SKIPPED', error })
  expect([...other.received, ...alone.received].filter(({ kind }) => kind === 'operation')).toEqual([])
  for (const device of [bar, other, alone]) await device.close()
})
