// Tests that each step is possible from exactly the states that the contract allows, and what it leaves. [contract 12.states]
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Fixture, newFixture } from '../../../test/support/fixture.ts'
import { type Harness, startHarness } from '../../../test/support/harness.ts'
import { newJobs } from '../../../test/support/jobs.ts'
import { type JobState, type JobStep, jobStates, steps } from '../../contract/jobs/job-states.ts'
import { applyJobChange } from './engine/apply.ts'
import { JobEngine } from './engine/engine.ts'
import { listActiveJobs } from './store.ts'

let harness: Harness
let f: Fixture
beforeAll(async () => {
  // The task that advances jobs does nothing here, so that only people steer them.
  vi.spyOn(JobEngine.prototype, 'advance').mockResolvedValue()
  harness = await startHarness()
  harness.clock.fix(Date.now())
  f = await newFixture(harness)
})
afterAll(async () => {
  await harness.close()
  vi.restoreAllMocks()
})

const paths: Readonly<Record<JobStep, string>> = {
  start: 'start',
  pause: 'pause',
  resume: 'resume',
  cancel: 'cancel',
  rollBack: 'roll_back',
  retry: 'retry',
}
/** The states in which a step leaves a job that respects nothing and has no time to start at. */
const results: Readonly<Record<JobStep, JobState>> = {
  start: 'RUNNING',
  pause: 'PAUSED',
  resume: 'RUNNING',
  cancel: 'CANCELLED',
  rollBack: 'ROLLING_BACK',
  retry: 'RUNNING',
}
/** A job has units that failed, so that a retry has something to do. */
const newJob = async (state: JobState) => {
  const unit = state === 'STOPPED' || state === 'INCOMPLETE' ? 'FAILED' : undefined
  const [id] = await newJobs(harness, f, [
    { state, type: 'CONFIG', room: f.room, endpoint: f.endpoint, ...(unit && { unit }) },
  ])
  return id
}
/** The table of the contract, written down once more: the one in the program must not decide what is right. */
const allowedStates: Readonly<Record<JobStep, readonly JobState[]>> = {
  start: ['DRAFT'],
  pause: ['RUNNING'],
  resume: ['PAUSED', 'STOPPED'],
  cancel: ['DRAFT', 'SCHEDULED', 'RUNNING', 'PAUSED', 'STOPPED'],
  rollBack: ['RUNNING', 'PAUSED', 'STOPPED', 'SUCCEEDED', 'INCOMPLETE', 'CANCELLED'],
  retry: ['STOPPED', 'INCOMPLETE'],
}
const allowedNow: readonly JobState[] = [...allowedStates.rollBack, 'ROLLING_BACK']
const cases = [
  ...steps.map((step) => ({ name: step as string, step, body: undefined, allowed: allowedStates[step] })),
  { name: 'rollBack now', step: 'rollBack' as const, body: { now: true }, allowed: allowedNow },
].flatMap((one) => jobStates.map((state) => ({ ...one, state })))

test.each(cases)('$name of a job that is $state', async ({ step, state, body, allowed }) => {
  const id = await newJob(state)
  const before = (await f.call('GET', `/jobs/${id}`)).body
  expect(before.state).toBe(state)
  const reply = await f.call('POST', `/jobs/${id}/${paths[step]}`, { ...(body && { body }) })
  const after = (await f.call('GET', `/jobs/${id}`)).body
  if (allowed.includes(state)) {
    expect(reply.status, reply.text).toBe(200)
    expect(reply.body.state).toBe(results[step])
    expect(after).toEqual(reply.body)
    expect((await f.audit())[0]).toMatchObject({
      details: { before: { state }, after: { state: results[step] } },
      target: { type: 'job', id },
    })
  } else {
    expect(reply.status).toBe(400)
    expect(reply.body.code).toBe('FAILED_PRECONDITION')
    expect(reply.body.message).toContain(`job ${id} is ${state}. It can be`)
    expect(after).toEqual(before)
  }
  // At most 10 jobs run at the same time.
  const { id: key } = { id: f.org.key }
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    await kysely
      .updateTable('jobs')
      .set({ state: 'CANCELLED' })
      .where('org', '=', key)
      .where('id', '=', Number(id))
      .execute()
  })
})

test('a rollback of what cannot be rolled back, and one that comes too late, are refused', async () => {
  const about = { room: f.room, endpoint: f.endpoint }
  const longAgo = harness.clock.now() - 31 * 86_400_000
  const recently = harness.clock.now() - 29 * 86_400_000
  const [message, old, recent] = await newJobs(harness, f, [
    { ...about, state: 'SUCCEEDED' },
    { ...about, state: 'SUCCEEDED', type: 'CONFIG', endedAt: longAgo },
    { ...about, state: 'SUCCEEDED', type: 'CONFIG', endedAt: recently },
  ])
  const rollBack = (id = '') => f.call('POST', `/jobs/${id}/roll_back`)
  const refused = (await rollBack(message)).body
  expect(refused).toMatchObject({ code: 'FAILED_PRECONDITION' })
  expect(refused.message).toMatch(/cannot be rolled back, only CONFIG, ASSIGN_PROFILE and MOVE can\.$/)
  expect((await rollBack(old)).body.message).toContain('more than 30 days ago')
  expect((await f.call('GET', `/jobs/${old}`)).body.canRollBack).toBe(false)
  expect((await f.call('GET', `/jobs/${recent}`)).body.canRollBack).toBe(true)
  expect((await rollBack(recent)).body).toMatchObject({ state: 'ROLLING_BACK', canRollBack: false })
})

test('a cancel with rollBack rolls back what was begun, and cancels the rest', async () => {
  const about = { room: f.room, endpoint: f.endpoint, type: 'CONFIG' } as const
  const [running, draft, message] = await newJobs(harness, f, [
    { ...about, state: 'RUNNING' },
    { ...about, state: 'DRAFT' },
    { ...about, state: 'RUNNING', type: 'MESSAGE' },
  ])
  const cancel = (id = '') => f.call('POST', `/jobs/${id}/cancel`, { body: { rollBack: true } })
  expect((await cancel(running)).body).toMatchObject({ state: 'ROLLING_BACK', counts: { CANCELLED: 1 } })
  expect((await cancel(draft)).body).toMatchObject({ state: 'CANCELLED', counts: { CANCELLED: 1 }, canRollBack: false })
  expect((await f.call('POST', `/jobs/${draft}/roll_back`)).body.message).toContain('never started')
  expect((await cancel(message)).body).toMatchObject({ code: 'FAILED_PRECONDITION' })
  expect((await f.call('POST', `/jobs/${message}/cancel`)).body).toMatchObject({
    state: 'CANCELLED',
    endedAt: expect.any(String),
  })
})

test('a retry has the next attempt number and begins only the units that failed or expired', async () => {
  const about = { room: f.room, endpoint: f.endpoint }
  const [failed, succeeded] = await newJobs(harness, f, [
    { ...about, state: 'INCOMPLETE', unit: 'EXPIRED' },
    { ...about, state: 'INCOMPLETE', unit: 'SUCCEEDED' },
  ])
  const retried = await f.call('POST', `/jobs/${failed}/retry`)
  expect(retried.body).toMatchObject({ state: 'RUNNING', attempt: 2, counts: { PENDING: 1 } })
  expect(retried.body.endedAt).toBeUndefined()
  expect((await f.call('GET', `/jobs/${failed}/rooms`)).body.rooms[0].endpoints[0].state).toBe('PENDING')
  expect((await f.call('POST', `/jobs/${succeeded}/retry`)).body.message).toContain('nothing to try again')
})

test.each(['resume', 'retry'])('a %s lets the soak of units begin again', async (step) => {
  const id = await newJob('STOPPED')
  const now = harness.clock.now()
  const unit = {
    ...{ org: f.org.key, job_id: Number(id), number: 2, stage: 1, state: 'SOAKING' as const, reason: null },
    ...{ name: 'Skog', location_id: null, endpoint_count: 0, began_at: now - 1, sent_at: now - 1 },
    ...{ soak_until: now - 1, watched_since: null, ended_at: null },
  }
  await harness.services.db.systemTransaction(({ kysely }) => kysely.insertInto('job_units').values(unit).execute())
  expect((await f.call('POST', `/jobs/${id}/${step}`)).status).toBe(200)
  const soaking = (await f.call('GET', `/jobs/${id}/rooms?state=SOAKING`)).body.rooms
  // The soak of these jobs takes no time.
  expect(soaking).toMatchObject([{ number: 2, soaksUntil: new Date(now).toISOString() }])
  await f.call('POST', `/jobs/${id}/cancel`)
})

test('an eleventh running job is refused until another one is paused', async () => {
  const org = await newFixture(harness)
  const about = { room: org.room, endpoint: org.endpoint }
  const states: JobState[] = [...Array(9).fill('RUNNING'), 'DRAFT', 'PAUSED', 'INCOMPLETE']
  // One more is running in the fixture.
  const ids = await newJobs(
    harness,
    org,
    states.map((state) => ({ ...about, state })),
  )
  const take = (at: number, step: string) => org.call('POST', `/jobs/${ids[at]}/${step}`)
  for (const [at, step] of [
    [9, 'start'],
    [10, 'resume'],
    [11, 'retry'],
  ] as const) {
    const reply = await take(at, step)
    expect(reply.body.message).toContain('10 jobs are running already')
  }
  await take(0, 'pause')
  expect((await take(9, 'start')).body.state).toBe('RUNNING')
})

test('jobs that wait only for devices that are offline take no slot', async () => {
  const org = await newFixture(harness)
  const about = { room: org.room, endpoint: org.endpoint }
  const waiting = Array(10).fill({ ...about, state: 'RUNNING', unit: 'WAITING' })
  const ids = await newJobs(harness, org, [...waiting, { ...about, state: 'DRAFT' }])
  expect((await org.call('POST', `/jobs/${ids.at(-1)}/start`)).body.state).toBe('RUNNING')
})

test('if there is one slot for two jobs whose time has come, one of them waits', async () => {
  const org = await newFixture(harness)
  // The engine leaves units alone that soak and whose endpoint was deleted.
  const about = { room: org.room, endpoint: 'none', unit: 'SOAKING' } as const
  const startAt = harness.clock.now() + 86_400_000
  const ids = await newJobs(harness, org, [
    ...Array(9).fill({ ...about, state: 'RUNNING' }),
    ...Array(2).fill({ ...about, state: 'SCHEDULED', startAt }),
  ])
  await org.call('POST', `/jobs/${org.jobs.running}/cancel`)
  const { services } = harness
  const jobs = await listActiveJobs(services.db.forOrg(org.org.key))
  for (const job of jobs.filter(({ id }) => ids.slice(9).includes(String(id)))) {
    const place = { key: org.org.key, id: org.org.id, timezone: 'UTC' }
    await applyJobChange({ services, org: place, job, places: async () => [] }, { type: 'start' })
  }
  const states = ids.slice(9).map(async (id) => (await org.call('GET', `/jobs/${id}`)).body.state)
  expect(await Promise.all(states)).toEqual(['RUNNING', 'SCHEDULED'])
})
