// Recurring jobs through HTTP and the task: runs in several time zones, over changes of clocks, once on several nodes, and by today's rights. [contract 12.recurring]
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { type Harness, hasOneNode, type Reply, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { isFullForm } from '../../../../test/support/long-form.ts'
import { newPerson } from '../../../../test/support/person.ts'
import { newTwoRegions } from '../../../../test/support/places/two-regions.ts'
import { until } from '../../../../test/support/program.ts'
import { hourMs, minuteMs } from '../../../contract/durations.ts'
import { weekdays } from '../../../contract/weekly-hours.ts'
import { JobEngine } from '../engine/engine.ts'
import { RecurringJobs } from './task.ts'

/** On one node the tests run the tasks themselves. Several nodes run them by themselves, the recurring jobs every 500 ms. */
const taskPauseShare = hasOneNode ? 500 : 0.1
let harness: Harness
beforeAll(async () => {
  harness = await startHarness({ settleMinutes: 0 }, { taskPauseShare })
})
afterAll(() => harness.close())

const winter = Date.parse('2026-01-12T12:00:00Z')
beforeEach(() => harness.clock.fix(winter))

const every = (at: string) => ({ days: [...weekdays], at })
const message = { type: 'MESSAGE', message: 'Good night.' }

interface Site {
  readonly location: number
  readonly room: number
}

/** A location with a room, in which a device is offline. */
async function newSite(org: TestOrg, name: string, timezone: string | null, regionId?: number): Promise<Site> {
  const make = async (path: string, body: object) => (await org.call('POST', path, { body })).body.id
  const location = await make('/locations', { name, timezone, ...(regionId && { regionId }) })
  const room = await make('/rooms', { name: `${name} room`, locationId: location })
  await putEndpoints(harness, org, [{ room_id: room }])
  return { location, room }
}

async function repeat(org: TestOrg, body: object = {}, call: { key?: string } = {}): Promise<string> {
  const request = { name: 'Every night', target: { all: true }, action: message, schedule: every('03:00'), ...body }
  const made = await org.call('POST', '/recurring_jobs', { body: request, ...call })
  expect(made.status, made.text).toBe(200)
  return made.body.id
}

const read = async (org: TestOrg, id: string): Promise<Reply['body']> =>
  (await org.call('GET', `/recurring_jobs/${id}`)).body

const runsOf = async (org: TestOrg, id: string): Promise<string[]> =>
  (await read(org, id)).runs.map((run: Reply['body']) => `${run.at} ${run.timezone} ${run.outcome}`)

const signals = new Map<string, AbortSignal>()
const recurringJobs = new RecurringJobs()
const jobEngine = new JobEngine({ idleMs: () => 10 * minuteMs, send: () => ({ logRetentionDays: 30 }) })

/** Lets the tasks run: those of several nodes by themselves. */
async function runTasks({ org, id }: TestOrg, severalNodesMs = 1000): Promise<void> {
  if (!hasOneNode) return pause(severalNodesMs)
  const signal = signals.get(id) ?? new AbortController().signal
  signals.set(id, signal)
  const taskOrg = { ...org, timezone: 'UTC' }
  await recurringJobs.run(harness.services, taskOrg, signal)
  await jobEngine.advance(harness.services, taskOrg, signal)
}

/** Waits until the tasks have come so far. */
const onceTasks = <T>(org: TestOrg, what: string, ask: () => Promise<T>) =>
  until(what, async () => {
    await runTasks(org, 100)
    return ask()
  })

const onceRuns = (org: TestOrg, id: string, count: number) =>
  onceTasks(org, `${count} runs`, async () => {
    const { runs } = await read(org, id)
    return runs.length >= count ? (runs as Reply['body'][]) : undefined
  })

const jumpTo = (iso: string) => harness.clock.fix(Date.parse(iso))

/** The suite has its short form on several nodes: runs in time zones, and over changes of clocks. */
const testOnOneNode = test.runIf(hasOneNode || isFullForm)

const jobsOf = async (org: TestOrg): Promise<Reply['body'][]> => (await org.call('GET', '/jobs')).body.jobs

test('each time zone has a run of its own, with a job for its rooms only, once on all nodes', async () => {
  const org = await harness.newOrg()
  await org.call('PUT', '', { body: { timezone: 'UTC' } })
  const oslo = await newSite(org, 'Oslo', 'Europe/Oslo')
  const bergen = await newSite(org, 'Bergen', 'Europe/Oslo')
  const boston = await newSite(org, 'Boston', 'America/New_York')
  const home = await newSite(org, 'Home', null)
  const id = await repeat(org, { withinHours: 2 })
  expect((await read(org, id)).nextRuns).toEqual([
    { at: '2026-01-13T02:00:00.000Z', timezone: 'Europe/Oslo' },
    { at: '2026-01-13T03:00:00.000Z', timezone: 'UTC' },
    { at: '2026-01-13T08:00:00.000Z', timezone: 'America/New_York' },
  ])
  jumpTo('2026-01-13T02:00:00Z')
  const [first] = await onceRuns(org, id, 1)
  expect(first).toMatchObject({ timezone: 'Europe/Oslo', outcome: 'STARTED' })
  const job = await onceTasks(org, 'the job runs', async () => {
    const { body } = await org.call('GET', `/jobs/${first?.jobId}`)
    return body.state === 'RUNNING' ? body : undefined
  })
  expect(job).toMatchObject({
    name: 'Every night',
    recurringJobId: id,
    target: { timezones: ['Europe/Oslo'] },
    unitCount: 2,
    deadline: '2026-01-13T04:00:00.000Z',
    startedBy: { type: 'KEY', name: 'Test key' },
  })
  const rooms = async (job: string) =>
    (await org.call('GET', `/jobs/${job}/rooms`)).body.rooms.flatMap((unit: Reply['body']) => unit.roomIds)
  expect((await rooms(first?.jobId)).sort()).toEqual([oslo.room, bergen.room].sort())
  jumpTo('2026-01-13T03:00:01Z')
  expect(await rooms((await onceRuns(org, id, 2))[0]?.jobId)).toEqual([home.room])
  jumpTo('2026-01-13T08:00:01Z')
  expect(await rooms((await onceRuns(org, id, 3))[0]?.jobId)).toEqual([boston.room])
  await runTasks(org)
  expect(await runsOf(org, id)).toHaveLength(3)
  expect(await jobsOf(org)).toHaveLength(3)
  const created = (await org.audit()).filter(({ type }) => type === 'JOB_CREATED')
  expect(created).toMatchObject(
    Array(3).fill({ actor: { name: 'Test key' }, details: { after: { recurringJobId: id } } }),
  )
})

testOnOneNode('a run is skipped with a reason while the job of the one before has not ended', async () => {
  const org = await harness.newOrg()
  await newSite(org, 'Oslo', 'Europe/Oslo')
  const id = await repeat(org, { withinHours: 48 })
  jumpTo('2026-01-13T02:00:00Z')
  const [first] = await onceRuns(org, id, 1)
  jumpTo('2026-01-14T02:00:00Z')
  expect((await onceRuns(org, id, 2))[0]).toEqual({
    at: '2026-01-14T02:00:00.000Z',
    timezone: 'Europe/Oslo',
    outcome: 'SKIPPED',
    reason: `Job ${first?.jobId}, which the run before started, has not ended.`,
  })
  expect((await org.call('POST', `/jobs/${first?.jobId}/cancel`)).status).toBe(200)
  jumpTo('2026-01-15T02:00:00Z')
  expect((await onceRuns(org, id, 3))[0]).toMatchObject({ outcome: 'STARTED' })
})

test('over changes of clocks there is one run a day, in both directions', async () => {
  jumpTo('2026-03-28T12:00:00Z')
  const org = await harness.newOrg()
  await newSite(org, 'Oslo', 'Europe/Oslo')
  const id = await repeat(org, { schedule: every('02:30'), withinHours: 1 })
  /** Otherwise the job could have its deadline and the next run in one jump of the clock, and the run would be skipped. */
  const endJob = async ([run]: Reply['body'][]) =>
    expect((await org.call('POST', `/jobs/${run?.jobId}/cancel`)).status).toBe(200)
  // 02:30 does not exist on 29 March.
  jumpTo('2026-03-29T01:00:00Z')
  await endJob(await onceRuns(org, id, 1))
  jumpTo('2026-03-30T00:30:00Z')
  await endJob(await onceRuns(org, id, 2))
  // While it is paused the time goes on for months, and none of their runs is made up.
  expect((await org.call('POST', `/recurring_jobs/${id}/pause`)).status).toBe(200)
  jumpTo('2026-10-24T12:00:00Z')
  expect((await org.call('POST', `/recurring_jobs/${id}/resume`)).status).toBe(200)
  // 02:30 comes twice on 25 October.
  jumpTo('2026-10-25T00:30:00Z')
  await endJob(await onceRuns(org, id, 3))
  jumpTo('2026-10-25T01:30:00Z')
  await runTasks(org)
  expect(await runsOf(org, id)).toEqual([
    '2026-10-25T00:30:00.000Z Europe/Oslo STARTED',
    '2026-03-30T00:30:00.000Z Europe/Oslo STARTED',
    '2026-03-29T01:00:00.000Z Europe/Oslo STARTED',
  ])
})

testOnOneNode(
  'a pause, an edit and a resume: no run is made up, the caller becomes the actor, and each is audited',
  async () => {
    const org = await harness.newOrg()
    await newSite(org, 'Oslo', 'Europe/Oslo')
    const id = await repeat(org)
    const paused = await org.call('POST', `/recurring_jobs/${id}/pause`)
    expect(paused.body).toMatchObject({ state: 'PAUSED', reason: 'Paused by Test key.', nextRuns: [] })
    expect((await org.call('POST', `/recurring_jobs/${id}/pause`)).status).toBe(400)
    jumpTo('2026-01-13T02:00:00Z')
    await runTasks(org)
    expect(await runsOf(org, id)).toEqual([])
    jumpTo('2026-01-13T05:00:00Z')
    const ada = await newPerson(harness, org, { role: 'owner' })
    const resumed = await org.call('POST', `/recurring_jobs/${id}/resume`, { key: ada.key })
    expect(resumed.body).toMatchObject({ state: 'ACTIVE', startedBy: { name: ada.email } })
    const body = { name: 'Workdays', target: { all: true }, action: message, schedule: { days: ['thu'], at: '04:00' } }
    const edited = await org.call('PUT', `/recurring_jobs/${id}`, { body, headers: { 'If-Match': '"3"' } })
    expect(edited.body).toMatchObject({
      name: 'Workdays',
      nextRuns: [{ at: '2026-01-15T03:00:00.000Z', timezone: 'Europe/Oslo' }],
      startedBy: { name: 'Test key' },
    })
    expect((await org.call('PUT', `/recurring_jobs/${id}`, { body, headers: { 'If-Match': '"3"' } })).status).toBe(412)
    await runTasks(org)
    expect(await runsOf(org, id)).toEqual([])
    expect((await org.call('DELETE', `/recurring_jobs/${id}`)).status).toBe(200)
    expect((await org.call('GET', '/recurring_jobs')).body).toEqual({ recurringJobs: [] })
    const types = (await org.audit()).map(({ type }) => type).filter((type: string) => type.startsWith('RECURRING'))
    expect(types).toEqual(['DELETED', 'UPDATED', 'RESUMED', 'PAUSED', 'CREATED'].map((step) => `RECURRING_JOB_${step}`))
  },
)

testOnOneNode(
  'runs of a time in which no server ran are recorded as skipped; nodes that begin them together make each once',
  async () => {
    const org = await harness.newOrg()
    await newSite(org, 'Oslo', 'Europe/Oslo')
    const id = await repeat(org)
    jumpTo('2026-01-15T02:04:00Z')
    const nodes = () =>
      Promise.all(
        [1, 2].map(() => {
          const taskOrg = { ...org.org, timezone: 'UTC' }
          return new RecurringJobs().run(harness.services, taskOrg, new AbortController().signal)
        }),
      )
    await nodes()
    const runs = [
      { at: '2026-01-15T02:00:00.000Z', outcome: 'STARTED' },
      { at: '2026-01-14T02:00:00.000Z', outcome: 'SKIPPED', reason: 'Roomkeeper was not running at this time.' },
      { at: '2026-01-13T02:00:00.000Z', outcome: 'SKIPPED', reason: 'Roomkeeper was not running at this time.' },
    ]
    expect((await read(org, id)).runs).toMatchObject(runs)
    // As after the end of a process that had made the runs, and had not noted that it was done with them.
    await harness.services.db.systemTransaction(({ kysely }) =>
      kysely.updateTable('recurring_jobs').set({ handled_until: winter }).where('org', '=', org.org.key).execute(),
    )
    await nodes()
    expect((await read(org, id)).runs).toMatchObject(runs)
    expect(await jobsOf(org)).toHaveLength(1)
  },
)

testOnOneNode(
  'a recurring job is paused and says so when its actor may not do it any more, or sees a part only',
  async () => {
    const two = await newTwoRegions(harness)
    const { org, mine, other } = two
    const ada = await newPerson(harness, org, { role: 'admin', regionIds: [mine.region, other.region] })
    const bob = await newPerson(harness, org, { role: 'operator', regionIds: [mine.region] })
    const byAda = await repeat(org, { target: { regionIds: [mine.region, other.region] } }, ada)
    const byBob = await repeat(org, { target: { regionIds: [mine.region] }, action: { type: 'REBOOT' } }, bob)
    await org.call('PUT', `/users/${ada.id}`, { body: { email: ada.email, role: 'admin', regionIds: [mine.region] } })
    await org.call('PUT', `/users/${bob.id}`, { body: { email: bob.email, role: 'viewer', regionIds: [mine.region] } })
    harness.clock.advance(11 * minuteMs)
    await onceTasks(org, 'both are paused', async () => {
      const states = [(await read(org, byAda)).state, (await read(org, byBob)).state]
      return states.join() === 'PAUSED,PAUSED' ? true : undefined
    })
    expect((await read(org, byAda)).reason).toBe(`${ada.email} no longer sees all locations of this recurring job.`)
    expect((await read(org, byBob)).reason).toBe(`${bob.email} may no longer do this: it needs the permission operate.`)
    const [entry] = (await org.audit()).filter(({ type }) => type === 'RECURRING_JOB_PAUSED')
    expect(entry.actor).toMatchObject({ type: 'SYSTEM', name: 'Jobs' })
  },
)

testOnOneNode(
  'a caller who is limited to regions sees their part, and steers only what is theirs as a whole',
  async () => {
    const two = await newTwoRegions(harness)
    const { org, mine, other, call } = two
    const all = await repeat(org, { target: { roomIds: [mine.room, other.room] } })
    const foreign = await repeat(org, { target: { roomIds: [other.room] } })
    const own = await repeat(org, { target: { roomIds: [mine.room] } })
    const { body } = await call('GET', '/recurring_jobs')
    expect(body.recurringJobs.map(({ id }: { id: string }) => id)).toEqual([all, own])
    expect(body.recurringJobs[0].target).toEqual({ roomIds: [mine.room] })
    expect((await call('GET', `/recurring_jobs/${foreign}`)).status).toBe(404)
    for (const step of ['POST pause', 'POST resume', 'DELETE ']) {
      const [method = '', path] = step.split(' ')
      const refused = await call(method, `/recurring_jobs/${all}${path ? `/${path}` : ''}`)
      expect([refused.status, refused.body.message]).toEqual([
        400,
        expect.stringContaining('regions that you do not see'),
      ])
    }
    expect((await call('POST', `/recurring_jobs/${own}/pause`)).status).toBe(200)
    const refusal = { name: 'Move', target: { roomIds: [mine.room] }, action: { type: 'MOVE', roomId: mine.room } }
    const moved = await call('POST', '/recurring_jobs', { body: { ...refusal, schedule: every('03:00') } })
    expect(moved.body.message).toContain('cannot be repeated')
  },
)

testOnOneNode('a room that comes to another time zone has its next run there, and missed none', async () => {
  const org = await harness.newOrg()
  const oslo = await newSite(org, 'Oslo', 'Europe/Oslo')
  const id = await repeat(org)
  await runTasks(org)
  harness.clock.fix(winter + 20 * hourMs)
  await onceRuns(org, id, 1)
  // In Tokyo 03:00 of this day was long ago.
  await newSite(org, 'Tokyo', 'Asia/Tokyo')
  harness.clock.advance(11 * minuteMs)
  const { nextRuns } = await onceTasks(org, 'Tokyo is found', async () => {
    const recurring = await read(org, id)
    return recurring.nextRuns.length === 2 ? recurring : undefined
  })
  expect(nextRuns[0]).toEqual({ at: '2026-01-13T18:00:00.000Z', timezone: 'Asia/Tokyo' })
  await runTasks(org)
  expect(await runsOf(org, id)).toEqual([expect.stringContaining('Europe/Oslo')])
  await org.call('DELETE', `/locations/${oslo.location}`)
})
