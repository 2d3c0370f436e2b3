// Tests that a rollback returns what endpoints and rooms had before a job, and keeps what others changed since. [contract 12.rollback]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../../test/support/harness.ts'
import { minuteMs } from '../../../../contract/durations.ts'
import { RequestContext } from '../../../context/request-context.ts'
import { explicitLayer } from '../../../fleet/configs/effective.ts'
import { makeVersions } from '../../../fleet/configs/make-versions.ts'
import { endpointContext, sealConfig, shownConfig } from '../../../fleet/configs/sealed-config.ts'
import { requireConfig, setExplicit } from '../../../fleet/configs/set-explicit.ts'
import { endpointRef } from '../../../fleet/endpoints/fields.ts'
import { updateProfileOf } from '../../../fleet/endpoints/store.ts'
import { updateRoomProfile } from '../../../fleet/rooms/store.ts'
import { change } from '../../../journal/audit/change.ts'
import { advanceRollback, type RollingBackJob } from './advance-rollback.ts'
import { rollBackEndpoint } from './roll-back-endpoint.ts'
import { RollbackQueue } from './rollback-queue.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** Makes an organisation with rooms of a location that have one device each. */
async function newFleet(rooms: number, { online = false } = {}) {
  const org = await harness.newOrg()
  const location = (await org.call('POST', '/locations', { body: { name: 'Oslo' } })).body.id
  const devices: TestDevice[] = []
  for (let i = 1; i <= rooms; i++) {
    const roomId = (await org.call('POST', '/rooms', { body: { name: `Room ${i}`, locationId: location } })).body.id
    devices.push(await newDevice(harness, org, { roomId, offline: !online }))
  }
  const apply = (n: number, body: unknown) => org.call('POST', `/endpoints/${devices[n]?.id}/config`, { body })
  const config = async (n: number) => (await org.call('GET', `/endpoints/${devices[n]?.id}/config`)).body
  const versions = async (n: number) =>
    (await org.call('GET', `/endpoints/${devices[n]?.id}/config/versions`)).body.versions
  return { ...org, location, devices, apply, config, versions }
}

type TestAction = RollingBackJob['action'] & { readonly config?: object }

interface TestJob extends RollingBackJob {
  readonly org: TestOrg
}

/** Makes a job with its units. It is final, so that only the test changes it. */
async function newJob(org: TestOrg, action: TestAction, more: Partial<RollingBackJob> = {}) {
  const made = await org.call('POST', '/jobs', { body: { name: 'Night', target: { models: ['NF19B1'] }, action } })
  expect(made.status, made.text).toBe(200)
  const id = Number(made.body.id)
  await write(org, (db) => db.updateTable('jobs').set({ state: 'CANCELLED' }).where('id', '=', id))
  const settings = {
    respect: { window: false, idle: false },
    pace: { atOnce: 50, atOncePerLocation: 50 },
    isNow: false,
  }
  const job: TestJob = {
    org,
    id,
    unitCount: made.body.unitCount,
    action,
    ...settings,
    actor: { type: 'USER', id: '4', name: 'Ada' },
    ...more,
  }
  return job
}

type Db = Harness['services']['db']['system']['kysely']
interface Statement {
  where(column: 'org', operator: '=', value: number): { execute(): Promise<unknown> }
}
const write = (org: TestOrg, build: (db: Db) => unknown) =>
  harness.services.db.systemTransaction(({ kysely }) =>
    (build(kysely as Db) as Statement).where('org', '=', org.org.key).execute(),
  )

/** Does to an endpoint what the job does, in one commit with its state. */
async function runEffect({ org, id: jobId, action }: TestJob, id: string, config: Record<string, unknown>) {
  const { ctx } = org
  const done = { state: 'DONE', version_after: 1 } as const
  await change(ctx, 'endpointsApplyConfig', async (tx) => {
    const row = await requireConfig(tx, id)
    if (action.type === 'ASSIGN_PROFILE') {
      await updateProfileOf(tx, { ids: [id], profile: action.profileId ?? null })
      await makeVersions(tx, ctx, [id], { jobId })
      return { result: undefined, target: endpointRef(row), jobId }
    }
    const before = explicitLayer(row)
    const sent = { ...shownConfig(before), ...config } as Record<string, boolean>
    return setExplicit(tx, ctx, row, sealConfig(sent, before, ctx.secrets, endpointContext(ctx.org, id)), { jobId })
  })
  await write(org, (db) =>
    db.updateTable('job_endpoints').set(done).where('job_id', '=', jobId).where('endpoint_id', '=', id),
  )
  await write(org, (db) =>
    db
      .updateTable('job_units')
      .set({ state: 'SUCCEEDED', began_at: harness.clock.now(), ended_at: harness.clock.now() })
      .where('job_id', '=', jobId)
      .where('number', 'in', (q) =>
        q.selectFrom('job_endpoints').select('unit').where('job_id', '=', jobId).where('endpoint_id', '=', id),
      ),
  )
}

const queues = new Map<string, RollbackQueue>()
/** Each job has a queue, as in the engine. */
function step(job: TestJob): Promise<boolean> {
  const key = `${job.org.id}/${job.id}`
  const queue = queues.get(key) ?? new RollbackQueue()
  queues.set(key, queue)
  return advanceRollback(harness.services, job.org.org, job, 10 * minuteMs, queue)
}
const unitsOf = async ({ org, id }: TestJob) =>
  (await org.call('GET', `/jobs/${id}/rooms`)).body.rooms as {
    number: number
    state: string
    reason?: string
    endpoints: { endpointId: string; state: string; error?: string }[]
  }[]
const unitOf = async (job: TestJob, endpointId: string) =>
  (await unitsOf(job)).find(({ endpoints }) => endpoints.some((each) => each.endpointId === endpointId))

test('keys and passwords return as a new version that is sent to the device, by the person who asked', async () => {
  const f = await newFleet(1, { online: true })
  const [device] = f.devices as [TestDevice]
  const sent = async () => (await device.next('config')).config
  await f.apply(0, { brightness: 0.5, settingsPassword: 'the first' })
  await sent()
  const job = await newJob(f, { type: 'CONFIG', config: { nightMode: true } })
  await runEffect(job, device.id, { nightMode: true, brightness: 0.9, settingsPassword: 'the second' })
  f.ctx.devices.wake([device.id])
  expect(await sent()).toEqual({ nightMode: true, brightness: 0.9, settingsPassword: 'the second' })
  expect(await step(job)).toBe(true)
  expect(await sent()).toEqual({ brightness: 0.5, settingsPassword: 'the first' })
  expect((await f.versions(0))[0]).toMatchObject({
    version: 3,
    author: { type: 'USER', id: '4', name: 'Ada' },
    config: { brightness: 0.5 },
  })
  const [entry] = await f.audit()
  expect(entry).toMatchObject({ type: 'DEVICE_CONFIG_CHANGED', actor: { name: 'Ada' }, target: { id: device.id } })
  expect(entry.details).toMatchObject({ jobId: String(job.id), after: { brightness: 0.5 } })
  expect(await unitOf(job, device.id)).toMatchObject({ state: 'ROLLED_BACK', endpoints: [{ state: 'ROLLED_BACK' }] })
  const before = [await f.audit(), await f.versions(0)]
  expect(await step(job), 'a second step finds nothing to do').toBe(true)
  expect([await f.audit(), await f.versions(0)]).toEqual(before)
  await device.close()
})

test('a value that others changed since is kept and names them; a deleted endpoint is kept', async () => {
  const f = await newFleet(4)
  const [whole, part, none, gone] = f.devices as [TestDevice, TestDevice, TestDevice, TestDevice]
  for (let n = 0; n < 4; n++) await f.apply(n, { brightness: 0.1 * (n + 1), fontSize: 'small' })
  const job = await newJob(f, { type: 'CONFIG', config: { nightMode: true } })
  for (const { id } of f.devices) await runEffect(job, id, { nightMode: true, brightness: 1 })
  await f.apply(1, { brightness: 0.7, language: 'nb' })
  await f.apply(2, { brightness: 0.7, nightMode: false })
  await f.call('DELETE', `/endpoints/${gone.id}`)
  const untouched = await f.versions(2)
  // A server that is killed here has rolled back the endpoint, but not its unit.
  const ada = new RequestContext(harness.services, { ...f.ctx, org: f.org, actor: job.actor })
  await rollBackEndpoint(ada, job.id, whole.id)
  expect(await unitOf(job, whole.id)).toMatchObject({ state: 'SUCCEEDED', endpoints: [{ state: 'ROLLED_BACK' }] })
  const once = await f.versions(0)
  expect(once).toHaveLength(3)
  expect(await step(job)).toBe(true)
  expect(await f.config(0)).toEqual({ brightness: 0.1, fontSize: 'small' })
  expect(await f.versions(0), 'the endpoint that was done before is not done twice').toEqual(once)
  expect(await f.config(1)).toEqual({ brightness: 0.7, fontSize: 'small', language: 'nb' })
  expect(await f.versions(2)).toEqual(untouched)
  expect(await unitOf(job, whole.id)).toMatchObject({ state: 'ROLLED_BACK', endpoints: [{ state: 'ROLLED_BACK' }] })
  expect(await unitOf(job, part.id)).toMatchObject({
    state: 'ROLLED_BACK',
    endpoints: [{ state: 'ROLLED_BACK', error: 'brightness was changed by Test key since' }],
  })
  expect(await unitOf(job, none.id)).toMatchObject({
    state: 'KEPT',
    endpoints: [
      { state: 'KEPT', error: 'brightness was changed by Test key since; nightMode was changed by Test key since' },
    ],
  })
  expect(await unitOf(job, gone.id)).toMatchObject({
    state: 'KEPT',
    reason: 'the endpoint was deleted',
    endpoints: [{ state: 'KEPT', error: 'the endpoint was deleted' }],
  })
})

test('profiles of endpoints and rooms return, but not a profile that was deleted or that others assigned since', async () => {
  const f = await newFleet(3)
  const profile = async (name: string) =>
    (await f.call('POST', '/profiles', { body: { name, config: { nightMode: true } } })).body.profile.id as number
  const [first, deleted, byJob, later] = [
    await profile('First'),
    await profile('Deleted'),
    await profile('By the job'),
    await profile('Later'),
  ]
  const [back, lost, changed] = f.devices as [TestDevice, TestDevice, TestDevice]
  const assign = (id: string, profileId: number | null) =>
    f.call('PUT', `/endpoints/${id}/profile`, { body: { profileId } })
  await assign(back.id, first)
  await assign(lost.id, deleted)
  const job = await newJob(f, { type: 'ASSIGN_PROFILE', profileId: byJob })
  for (const { id } of f.devices) await runEffect(job, id, {})
  const roomId = (await f.call('GET', `/endpoints/${back.id}`)).body.roomId
  await change(f.ctx, 'roomsAssignProfile', async (tx) => {
    await updateRoomProfile(tx, { id: roomId, profile: byJob })
    return { result: undefined, target: { type: 'room', id: String(roomId), name: 'Room 1' }, jobId: job.id }
  })
  await write(f, (db) =>
    db
      .updateTable('job_unit_rooms')
      .set({ profile_changed: 1, profile_before: first })
      .where('job_id', '=', job.id)
      .where('room_id', '=', roomId),
  )
  expect((await f.call('DELETE', `/profiles/${deleted}`)).status).toBe(200)
  await assign(changed.id, later)
  const versionOf = async () => (await f.call('GET', `/rooms/${roomId}`)).headers.get('ETag')?.match(/\d+/)?.[0]
  const version = Number(await versionOf())
  expect(await step(job)).toBe(true)
  expect(Number(await versionOf()), 'the profile of the room, and that of an endpoint in it, are two changes').toBe(
    version + 2,
  )
  const profileOf = async (id: string) => (await f.call('GET', `/endpoints/${id}`)).body.profileId
  expect(await Promise.all([back, lost, changed].map(({ id }) => profileOf(id)))).toEqual([first, byJob, later])
  expect((await f.call('GET', `/rooms/${roomId}`)).body.profileId).toBe(first)
  expect(await unitOf(job, lost.id)).toMatchObject({
    state: 'KEPT',
    reason: `the profile ${deleted} that it had was deleted`,
  })
  expect(await unitOf(job, changed.id)).toMatchObject({
    state: 'KEPT',
    reason: 'the profile was changed by Test key since',
  })
  const entries = (await f.audit()).filter(({ details }) => details?.jobId === String(job.id)).slice(0, 2)
  expect(entries.map(({ target }) => target.type).sort()).toEqual(['endpoint', 'room'])
})

test('units wait for their window and their pace, the last one goes first, and now ignores both', async () => {
  const f = await newFleet(4, { online: true })
  const job = await newJob(
    f,
    { type: 'CONFIG', config: { nightMode: true } },
    { respect: { window: true, idle: false } },
  )
  for (const { id } of f.devices) await runEffect(job, id, { nightMode: true })
  const changeWindow = { days: ['mon'], from: '20:00', to: '05:00' }
  const location = { name: 'Oslo', timezone: 'Europe/Oslo' }
  const set = (window: object | null) =>
    write(f, (db) =>
      db
        .updateTable('locations')
        .set({ change_window: window && JSON.stringify(window), timezone: location.timezone })
        .where('id', '=', f.location),
    )
  await set(changeWindow)
  harness.clock.fix(Date.UTC(2026, 4, 4, 17, 59, 59))
  expect(await step(job)).toBe(false)
  const waiting = { state: 'SUCCEEDED', reason: 'The rollback waits for the change window of the location.' }
  expect(await unitsOf(job)).toMatchObject([waiting, waiting, waiting, waiting])
  harness.clock.fix(Date.UTC(2026, 4, 4, 18, 0, 30))
  const paced = { ...job, pace: { atOnce: 3, atOncePerLocation: 2 } }
  expect(await step(paced)).toBe(false)
  expect((await unitsOf(job)).map(({ state }) => state)).toEqual([
    'SUCCEEDED',
    'SUCCEEDED',
    'ROLLED_BACK',
    'ROLLED_BACK',
  ])
  harness.clock.advance(minuteMs)
  expect(await step(paced), 'the devices have not confirmed').toBe(false)
  expect((await unitsOf(job)).slice(0, 2).map(({ reason }) => reason)).toEqual(
    Array(2).fill('The rollback waits for other rooms of this job.'),
  )
  await set(changeWindow)
  harness.clock.fix(Date.UTC(2026, 4, 5, 12))
  expect(await step({ ...paced, isNow: true })).toBe(true)
  expect(await unitsOf(job)).toMatchObject(Array(4).fill({ state: 'ROLLED_BACK' }))
  expect((await unitsOf(job))[0]).not.toHaveProperty('reason')
  await Promise.all(f.devices.map((device) => device.close()))
})
