// Recurring jobs through HTTP and the task: runs in several time zones, over changes of clocks, once on several nodes, and by today's rights. [contract 12.recurring]
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { type Harness, type Reply, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { newPerson } from '../../../../test/support/person.ts'
import { newTwoRegions } from '../../../../test/support/places/two-regions.ts'
import { until } from '../../../../test/support/program.ts'
import { hourMs, minuteMs } from '../../../contract/durations.ts'
import { weekdays } from '../../../contract/weekly-hours.ts'

/** The tasks run every 100 ms here. */
const options = { taskPauseShare: 0.02 }
let harness: Harness
beforeAll(async () => {
  harness = await startHarness({ settleMinutes: 0 }, options)
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

const onceRuns = (org: TestOrg, id: string, count: number) =>
  until(`${count} runs`, async () => {
    const { runs } = await read(org, id)
    return runs.length >= count ? (runs as Reply['body'][]) : undefined
  })

/** Long enough for several runs of the task on each node. */
const severalRuns = () => new Promise((resolve) => setTimeout(resolve, 1500))

async function jumpTo(iso: string): Promise<void> {
  // The task has seen the time just before, so that the run is not late.
  harness.clock.fix(Date.parse(iso) - 1000)
  await severalRuns()
  harness.clock.fix(Date.parse(iso))
}

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
  await jumpTo('2026-01-13T02:00:00Z')
  const [first] = await onceRuns(org, id, 1)
  expect(first).toMatchObject({ timezone: 'Europe/Oslo', outcome: 'STARTED' })
  const job = await until('the job runs', async () => {
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
  await jumpTo('2026-01-13T03:00:01Z')
  expect(await rooms((await onceRuns(org, id, 2))[0]?.jobId)).toEqual([home.room])
  await jumpTo('2026-01-13T08:00:01Z')
  expect(await rooms((await onceRuns(org, id, 3))[0]?.jobId)).toEqual([boston.room])
  await severalRuns()
  expect(await runsOf(org, id)).toHaveLength(3)
  expect(await jobsOf(org)).toHaveLength(3)
  const created = (await org.audit()).filter(({ type }) => type === 'JOB_CREATED')
  expect(created).toMatchObject(
    Array(3).fill({ actor: { name: 'Test key' }, details: { after: { recurringJobId: id } } }),
  )
})

test('a run is skipped with a reason while the job of the one before has not ended', async () => {
  const org = await harness.newOrg()
  await newSite(org, 'Oslo', 'Europe/Oslo')
  const id = await repeat(org, { withinHours: 48 })
  await jumpTo('2026-01-13T02:00:00Z')
  const [first] = await onceRuns(org, id, 1)
  await jumpTo('2026-01-14T02:00:00Z')
  expect((await onceRuns(org, id, 2))[0]).toEqual({
    at: '2026-01-14T02:00:00.000Z',
    timezone: 'Europe/Oslo',
    outcome: 'SKIPPED',
    reason: `Job ${first?.jobId}, which the run before started, has not ended.`,
  })
  expect((await org.call('POST', `/jobs/${first?.jobId}/cancel`)).status).toBe(200)
  await jumpTo('2026-01-15T02:00:00Z')
  expect((await onceRuns(org, id, 3))[0]).toMatchObject({ outcome: 'STARTED' })
})

test('over changes of clocks there is one run a day, in both directions', async () => {
  harness.clock.fix(Date.parse('2026-03-28T12:00:00Z'))
  const org = await harness.newOrg()
  await newSite(org, 'Oslo', 'Europe/Oslo')
  const id = await repeat(org, { schedule: every('02:30'), withinHours: 1 })
  // 02:30 does not exist on 29 March.
  await jumpTo('2026-03-29T01:00:00Z')
  await onceRuns(org, id, 1)
  await jumpTo('2026-03-30T00:30:00Z')
  await onceRuns(org, id, 2)
  harness.clock.fix(Date.parse('2026-10-24T12:00:00Z'))
  await org.call('POST', `/recurring_jobs/${id}/pause`)
  await org.call('POST', `/recurring_jobs/${id}/resume`)
  // 02:30 comes twice on 25 October.
  await jumpTo('2026-10-25T00:30:00Z')
  await onceRuns(org, id, 3)
  await jumpTo('2026-10-25T01:30:00Z')
  await severalRuns()
  expect(await runsOf(org, id)).toEqual([
    '2026-10-25T00:30:00.000Z Europe/Oslo STARTED',
    '2026-03-30T00:30:00.000Z Europe/Oslo STARTED',
    '2026-03-29T01:00:00.000Z Europe/Oslo STARTED',
  ])
})

test('a pause, an edit and a resume: no run is made up, the caller becomes the actor, and each is audited', async () => {
  const org = await harness.newOrg()
  await newSite(org, 'Oslo', 'Europe/Oslo')
  const id = await repeat(org)
  const paused = await org.call('POST', `/recurring_jobs/${id}/pause`)
  expect(paused.body).toMatchObject({ state: 'PAUSED', reason: 'Paused by Test key.', nextRuns: [] })
  expect((await org.call('POST', `/recurring_jobs/${id}/pause`)).status).toBe(400)
  await jumpTo('2026-01-13T02:00:00Z')
  await severalRuns()
  expect(await runsOf(org, id)).toEqual([])
  harness.clock.fix(Date.parse('2026-01-13T05:00:00Z'))
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
  await severalRuns()
  expect(await runsOf(org, id)).toEqual([])
  expect((await org.call('DELETE', `/recurring_jobs/${id}`)).status).toBe(200)
  expect((await org.call('GET', '/recurring_jobs')).body).toEqual({ recurringJobs: [] })
  const types = (await org.audit()).map(({ type }) => type).filter((type: string) => type.startsWith('RECURRING'))
  expect(types).toEqual(['DELETED', 'UPDATED', 'RESUMED', 'PAUSED', 'CREATED'].map((step) => `RECURRING_JOB_${step}`))
})

test('runs of a time in which no server ran are recorded as skipped, and not made up', async () => {
  const own = await startHarness({ settleMinutes: 0 }, { taskPauseShare: 500 })
  try {
    own.clock.fix(winter)
    const org = await own.newOrg()
    const { id: location } = (await org.call('POST', '/locations', { body: { name: 'Oslo', timezone: 'Europe/Oslo' } }))
      .body
    const { id: room } = (await org.call('POST', '/rooms', { body: { name: 'Fjord', locationId: location } })).body
    await putEndpoints(own, org, [{ room_id: room }])
    const id = await repeat(org)
    own.clock.fix(Date.parse('2026-01-15T02:04:00Z'))
    const { RecurringJobs } = await import('./task.ts')
    const started = new RecurringJobs().run(own.services, { ...org.org, timezone: 'UTC' }, new AbortController().signal)
    await started
    expect((await read(org, id)).runs).toMatchObject([
      { at: '2026-01-15T02:00:00.000Z', outcome: 'STARTED' },
      { at: '2026-01-14T02:00:00.000Z', outcome: 'SKIPPED', reason: 'Roomkeeper was not running at this time.' },
      { at: '2026-01-13T02:00:00.000Z', outcome: 'SKIPPED', reason: 'Roomkeeper was not running at this time.' },
    ])
    // Two more nodes that have forgotten what was done, at the same time.
    const again = () =>
      new RecurringJobs().run(own.services, { ...org.org, timezone: 'UTC' }, new AbortController().signal)
    await Promise.all([again(), again()])
    expect((await read(org, id)).runs).toHaveLength(3)
    expect((await org.call('GET', '/jobs')).body.jobs).toHaveLength(1)
  } finally {
    await own.close()
  }
})

test('a recurring job is paused and says so when its actor may not do it any more, or sees a part only', async () => {
  const two = await newTwoRegions(harness)
  const { org, mine, other } = two
  const ada = await newPerson(harness, org, { role: 'admin', regionIds: [mine.region, other.region] })
  const bob = await newPerson(harness, org, { role: 'operator', regionIds: [mine.region] })
  const byAda = await repeat(org, { target: { regionIds: [mine.region, other.region] } }, ada)
  const byBob = await repeat(org, { target: { regionIds: [mine.region] }, action: { type: 'REBOOT' } }, bob)
  await org.call('PUT', `/users/${ada.id}`, { body: { email: ada.email, role: 'admin', regionIds: [mine.region] } })
  await org.call('PUT', `/users/${bob.id}`, { body: { email: bob.email, role: 'viewer', regionIds: [mine.region] } })
  harness.clock.advance(11 * minuteMs)
  await until('both are paused', async () => {
    const states = [(await read(org, byAda)).state, (await read(org, byBob)).state]
    return states.join() === 'PAUSED,PAUSED' ? true : undefined
  })
  expect((await read(org, byAda)).reason).toBe(`${ada.email} no longer sees all locations of this recurring job.`)
  expect((await read(org, byBob)).reason).toBe(`${bob.email} may no longer do this: it needs the permission operate.`)
  const [entry] = (await org.audit()).filter(({ type }) => type === 'RECURRING_JOB_PAUSED')
  expect(entry.actor).toMatchObject({ type: 'SYSTEM', name: 'Jobs' })
})

test('a caller who is limited to regions sees their part, and steers only what is theirs as a whole', async () => {
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
})

test('a room that comes to another time zone has its next run there, and missed none', async () => {
  const org = await harness.newOrg()
  const oslo = await newSite(org, 'Oslo', 'Europe/Oslo')
  const id = await repeat(org)
  await severalRuns()
  harness.clock.fix(winter + 20 * hourMs)
  await onceRuns(org, id, 1)
  // In Tokyo 03:00 of this day was long ago.
  await newSite(org, 'Tokyo', 'Asia/Tokyo')
  harness.clock.advance(11 * minuteMs)
  const { nextRuns } = await until('Tokyo is found', async () => {
    const recurring = await read(org, id)
    return recurring.nextRuns.length === 2 ? recurring : undefined
  })
  expect(nextRuns[0]).toEqual({ at: '2026-01-13T18:00:00.000Z', timezone: 'Asia/Tokyo' })
  await severalRuns()
  expect(await runsOf(org, id)).toEqual([expect.stringContaining('Europe/Oslo')])
  await org.call('DELETE', `/locations/${oslo.location}`)
})
