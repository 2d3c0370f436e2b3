// Tests that jobs are created, read and steered, through HTTP. [contract 12.job] [contract 12.states]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../test/support/database/endpoint-rows.ts'
import { follow } from '../../../test/support/event-follower.ts'
import { type Fixture, newFixture } from '../../../test/support/fixture.ts'
import { type Harness, startHarness } from '../../../test/support/harness.ts'
import { until } from '../../../test/support/program.ts'

let harness: Harness
let f: Fixture
beforeAll(async () => {
  harness = await startHarness()
  // No scheduled task becomes due, so that the engine does not begin what is started here.
  harness.clock.fix(Date.now())
  f = await newFixture(harness)
})
afterAll(() => harness.close())

const jobBody = (more: object = {}) => ({
  name: 'Night mode',
  target: { roomIds: [f.room] },
  action: { type: 'CONFIG', config: { nightMode: true } },
  ...more,
})
const create = (more: object = {}) => f.call('POST', '/jobs', { body: jobBody(more) })

test('a job is created as a draft with its units, read and started', async () => {
  const made = await create()
  expect(made.status).toBe(200)
  expect(made.body).toMatchObject({
    id: expect.stringMatching(/^\d+$/),
    state: 'DRAFT',
    stage: 0,
    stageCount: 1,
    unitCount: 1,
    endpointCount: 1,
    counts: { PENDING: 1 },
    soakMinutes: 0,
    respect: { window: false, idle: false },
    pace: { atOnce: 50 },
    startAt: null,
    canRollBack: false,
    stageCounts: [{ unitCount: 1, counts: { PENDING: 1 } }],
  })
  const { id } = made.body
  expect((await f.call('GET', `/jobs/${id}`)).body).toEqual(made.body)
  expect((await f.call('GET', `/jobs/${id}/rooms`)).body).toEqual({
    rooms: [
      {
        number: 1,
        roomIds: [f.room],
        name: 'Fjord (Oslo HQ)',
        stage: 1,
        state: 'PENDING',
        endpoints: [{ endpointId: f.endpoint, name: expect.stringMatching(/^Bar /), state: 'PENDING' }],
      },
    ],
    nextPageToken: '',
  })
  expect((await f.audit())[0]).toMatchObject({
    type: 'JOB_CREATED',
    target: { type: 'job', id, name: 'Night mode' },
    details: { after: { state: 'DRAFT', unitCount: 1 } },
  })
  // The target is fixed at the start, not before.
  await putEndpoints(harness, f, [{ room_id: f.room }])
  const started = await f.call('POST', `/jobs/${id}/start`)
  expect(started.body).toMatchObject({ state: 'RUNNING', startedAt: expect.any(String), deadline: expect.any(String) })
  expect(started.body).toMatchObject({ unitCount: 1, endpointCount: 2 })
  expect((await f.audit())[0]).toMatchObject({
    type: 'JOB_STARTED',
    details: { before: { state: 'DRAFT' }, after: { state: 'RUNNING' } },
  })
})

test('a step sends an event to readers, and a message to channels that want it', async () => {
  const follower = await follow(f.client)
  const channel = {
    name: 'Jobs',
    kind: 'webhook',
    url: 'https://127.0.0.1:9/jobs',
    events: ['job.started', 'job.paused'],
  }
  await f.call('POST', '/channels', { body: { ...channel, enabled: false } })
  const { id } = (await create({ start: true })).body
  await f.call('POST', `/jobs/${id}/pause`)
  await until('both events', () => statesOf(id).length === 2)
  expect(statesOf(id)).toEqual(['RUNNING', 'PAUSED'])
  function statesOf(job: string) {
    return follower.events.flatMap((event) => (event.job?.id === job ? [event.job.state] : []))
  }
  const messages = await harness.services.db.system.kysely
    .selectFrom('messages')
    .select(['type', 'data'])
    .where('org', '=', f.org.key)
    .where('order_key', '=', `job ${id}`)
    .orderBy('number')
    .execute()
  expect(messages.map(({ type }) => type)).toEqual(['job.started', 'job.paused'])
  expect(JSON.parse(messages[1]?.data ?? '{}').job).toMatchObject({ id, state: 'PAUSED', action: { type: 'CONFIG' } })
})
