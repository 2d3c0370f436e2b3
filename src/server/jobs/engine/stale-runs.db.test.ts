// Tests what becomes of steps that the engine decided on before a device disconnected, a person paused the job, or the database locked a row. [contract 12.states]
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { engine, type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { newJob, unitsOf } from '../../../../test/support/jobs/job-devices.ts'
import type { JobRow } from '../rows.ts'
import { listActiveJobs } from '../store.ts'
import { JobEngine } from './engine.ts'
import { listEngineEndpoints } from './facts-store.ts'
import { includeNew } from './include-new.ts'
import { sendToUnit } from './send.ts'

/** The engine itself, of which only these tests take steps. */
const { advance } = JobEngine.prototype

let harness: Harness
let org: TestOrg
let roomId: number
beforeAll(async () => {
  vi.spyOn(JobEngine.prototype, 'advance').mockResolvedValue()
  harness = await startHarness()
  org = await harness.newOrg()
  roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
})
afterAll(async () => {
  await harness.close()
  vi.restoreAllMocks()
})

const onOrg = () => harness.services.db.forOrg(org.org.key)
const rowOf = async (id: string) => (await listActiveJobs(onOrg())).find((job) => job.id === Number(id)) as JobRow
const inputOf = (job: JobRow) => ({
  ...{ services: harness.services, job, places: async () => [] },
  org: { ...org.org, timezone: 'UTC' },
})

test.each([true, false])(
  'a reboot of which one device has disconnected since the facts were read is not sent to the other, respecting idle rooms: %s',
  async (idle) => {
    const devices = await putEndpoints(harness, org, [
      { room_id: roomId, connected: 1 },
      { room_id: roomId, connected: 0 },
    ])
    const endpointIds = devices.map(({ id }) => id)
    const respect = { window: false, idle }
    const { id } = await newJob(org, { target: { endpointIds }, action: { type: 'REBOOT' }, respect })
    const endpoints = await listEngineEndpoints(onOrg(), {
      ...harness.services.reconnects.current,
      job: Number(id),
      units: [1],
    })
    const seen = endpoints.map((endpoint) => ({ ...endpoint, connected: 1 }))
    const unit = { number: 1, state: 'PENDING', endpoints: seen }
    const before = await org.audit()
    expect(await sendToUnit(inputOf(await rowOf(id)), org.ctx, unit, { logRetentionDays: 30 })).toBe('sent')
    expect(await unitsOf(org, id)).toMatchObject([{ state: 'PENDING' }])
    expect((await org.call('GET', '/operations')).body.operations).toEqual([])
    expect(await org.audit()).toEqual(before)
  },
)

test('a person who pauses and resumes the job since the facts were read is the actor: what was decided before is not sent', async () => {
  const [device] = await putEndpoints(harness, org, [{ room_id: roomId, connected: 1 }])
  const action = { type: 'CONFIG', config: { nightMode: true } }
  const { id } = await newJob(org, { target: { endpointIds: [device?.id] }, action })
  const seen = await rowOf(id)
  const endpoints = await listEngineEndpoints(onOrg(), {
    ...harness.services.reconnects.current,
    job: Number(id),
    units: [1],
  })
  const key = await org.newKey({ scopes: ['read', 'write', 'operate'] })
  for (const step of ['pause', 'resume']) await org.call('POST', `/jobs/${id}/${step}`, { key })
  const unit = { number: 1, state: 'PENDING', endpoints }
  expect(await sendToUnit(inputOf(seen), org.ctx, unit, { logRetentionDays: 30 })).toBe('outdated')
  expect(await unitsOf(org, id)).toMatchObject([{ state: 'PENDING' }])
})

test('endpoints that match later do not join a job that was paused since the facts were read, and no audit entry says so', async () => {
  await putEndpoints(harness, org, [{ room_id: roomId, connected: 0, model: 'NF21C1' }])
  const action = { type: 'MESSAGE', message: 'Hello.' }
  const { id } = await newJob(org, { target: { models: ['NF21C1'] }, action, includeNew: true })
  const running = await rowOf(id)
  await putEndpoints(harness, org, [{ room_id: roomId, connected: 0, model: 'NF21C1' }])
  await org.call('POST', `/jobs/${id}/pause`)
  const before = await org.audit()
  expect(await includeNew(inputOf(running), org.ctx)).toBe(0)
  expect(await org.audit()).toEqual(before)
  expect((await org.call('GET', `/jobs/${id}`)).body).toMatchObject({ unitCount: 1, endpointCount: 1 })
})

test.runIf(engine === 'postgres')(
  'while a row is locked, no room fails and no job is paused, and then the job goes on [contract 12.states]',
  async () => {
    const owner = await harness.newOrg()
    const { id: room } = (await owner.call('POST', '/rooms', { body: { name: 'Fjord' } })).body
    const [device] = await putEndpoints(harness, owner, [{ room_id: room, connected: 1 }])
    const action = { type: 'CONFIG', config: { nightMode: true } }
    const { id } = await newJob(owner, { target: { endpointIds: [device?.id] }, action })
    const jobs = new JobEngine({ idleMs: () => 0, send: () => ({ logRetentionDays: 30 }) })
    const { signal } = new AbortController()
    const run = () => advance.call(jobs, harness.services, { ...owner.org, timezone: 'UTC' }, signal)
    const execute = (text: string) =>
      harness.services.db.systemTransaction(({ kysely }) => sql.raw(text).execute(kysely))
    // PostgreSQL reports this error after 5 s for a row that another session has locked.
    await execute(`create function refuse_version() returns trigger language plpgsql as
      $$ begin raise exception 'canceling statement due to lock timeout' using errcode = 'lock_not_available'; end $$`)
    await execute(`create trigger refuse_version before insert on config_versions
      for each row when (new.org = ${owner.org.key}) execute function refuse_version()`)
    for (let i = 0; i < 6; i++) await expect(run()).rejects.toMatchObject({ code: 'ABORTED' })
    expect((await owner.call('GET', `/jobs/${id}`)).body).toMatchObject({ state: 'RUNNING', counts: { PENDING: 1 } })
    expect(await unitsOf(owner, id)).toMatchObject([{ state: 'PENDING', endpoints: [{ state: 'PENDING' }] }])
    await execute('drop function refuse_version cascade')
    await run()
    expect(await unitsOf(owner, id)).toMatchObject([{ state: 'RUNNING', endpoints: [{ state: 'SENT' }] }])
  },
)
