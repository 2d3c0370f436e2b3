// Tests the requests that make a job: which are refused, and what they leave out means. [contract 12.job]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Fixture, newFixture } from '../../../../test/support/fixture.ts'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'

let harness: Harness
let f: Fixture
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(Date.now())
  f = await newFixture(harness)
})
afterAll(() => harness.close())

const config = { type: 'CONFIG', config: { nightMode: true } }
const bodyWith = (more: object = {}) => ({ name: 'Night mode', target: { roomIds: [f.room] }, action: config, ...more })
const create = (more: object = {}) => f.call('POST', '/jobs', { body: bodyWith(more) })
const plan = (more: object = {}) => f.call('POST', '/jobs/plan', { body: bodyWith(more) })
const codeOf = ({ status, body }: { status: number; body: { code?: string } }) => `${status} ${body.code}`

const all = { percent: 100 }
test.each([
  ['no key of a target', { target: {} }, 'target '],
  ['all endpoints and other keys', { target: { all: true, models: ['NF19B1'] } }, 'target.all '],
  ['not all endpoints', { target: { all: false } }, 'target.all '],
  ['no key of an exclusion', { target: { models: ['NF19B1'], exclude: {} } }, 'target.exclude '],
  ['an empty config', { action: { type: 'CONFIG', config: {} } }, 'action.config '],
  ['no config', { action: { type: 'CONFIG' } }, 'action.config '],
  ['a key of another type', { action: { ...config, message: 'Hello.' } }, 'action.message '],
  ['a config for a reboot', { action: { type: 'REBOOT', config: { nightMode: true } } }, 'action.config '],
  ['no profile', { action: { type: 'ASSIGN_PROFILE' } }, 'action.profileId '],
  ['no message', { action: { type: 'MESSAGE' } }, 'action.message '],
  ['no room', { action: { type: 'MOVE' } }, 'action.roomId '],
  ['a read-only key', { action: { type: 'CONFIG', config: { primaryMode: 'zoom' } } }, 'action.config.primaryMode '],
  ['stages that end early', { stages: [{ percent: 10 }] }, 'stages.0 '],
  ['a stage without a size', { stages: [{}, all] }, 'stages.0 '],
  ['a stage with two sizes', { stages: [{ rooms: 1, percent: 10 }, all] }, 'stages.0 '],
  ['shares that shrink', { stages: [{ percent: 20 }, { percent: 10 }, all] }, 'stages.1.percent '],
  ['counts that stay', { stages: [{ rooms: 2 }, { rooms: 2 }, all] }, 'stages.1.rooms '],
  ['a deadline in the past', { deadline: '2020-01-01T00:00:00Z' }, 'deadline '],
  ['a target without a match', { target: { models: ['none'] } }, 'target '],
  ['an unknown key', { onFailur: 'pause' }, 'onFailur '],
  ['an unknown key of the target', { target: { model: ['NF19B1'] } }, 'target.model '],
  ['an unknown key of the action', { action: { ...config, when: 'idle' } }, 'action.when '],
  ['an unknown key of a stage', { stages: [{ ...all, manuel: true }] }, 'stages[0].manuel '],
  ['an unknown key of failures', { failures: { percents: 5 } }, 'failures.percents '],
  ['an unknown key of respect', { respect: { idel: true } }, 'respect.idel '],
  ['an unknown key of the pace', { pace: { atonce: 1 } }, 'pace.atonce '],
])('%s is INVALID_ARGUMENT, for a plan and for a job', async (_, more, message) => {
  const before = await f.audit()
  for (const ask of [create, plan]) {
    const reply = await ask(more)
    expect(codeOf(reply)).toBe('400 INVALID_ARGUMENT')
    expect(reply.body.message).toContain(`Invalid request: ${message}`)
  }
  expect(await f.audit()).toEqual(before)
})

test('a move has no stages, and only some actions can be rolled back', async () => {
  const stages = [{ percent: 100 }]
  expect((await create({ action: { type: 'MOVE', roomId: f.room }, stages })).body.message).toContain('stages do not')
  for (const type of ['REBOOT', 'COLLECT_LOGS']) {
    expect(codeOf(await create({ action: { type }, onFailure: 'rollBack' }))).toBe('400 FAILED_PRECONDITION')
  }
  expect(codeOf(await create({ onFailure: 'rollBack' }))).toBe('200 undefined')
})

test('a caller who may only operate makes no job that changes settings [contract 12.rights]', async () => {
  const key = await f.newKey({ scopes: ['read', 'operate'] })
  const ask = (action: object) => f.call('POST', '/jobs', { body: bodyWith({ action }), key })
  expect(codeOf(await ask(config))).toBe('403 PERMISSION_DENIED')
  expect(codeOf(await ask({ type: 'REBOOT' }))).toBe('200 undefined')
})

test('a profile and a room that do not exist are FAILED_PRECONDITION', async () => {
  for (const action of [
    { type: 'ASSIGN_PROFILE', profileId: 999 },
    { type: 'MOVE', roomId: 999 },
  ]) {
    expect(codeOf(await create({ action }))).toBe('400 FAILED_PRECONDITION')
  }
  expect((await create({ action: { type: 'ASSIGN_PROFILE', profileId: 0 } })).body.action.profileId).toBeNull()
})

test('a job with stages has other defaults than one without', async () => {
  const { body: bulk } = await create()
  expect(bulk).toMatchObject({
    stages: [{ percent: 100, manual: false }],
    soakMinutes: 0,
    failures: { percent: 5, atLeast: 1 },
    onFailure: 'rollBack',
    respect: { window: false, idle: false },
    pace: { atOnce: 50, atOncePerLocation: 5 },
    skipConflicts: false,
    includeNew: false,
  })
  const stages = [{ rooms: 1 }, { percent: 100, manual: true }]
  const { body: staged } = await create({ stages })
  expect(staged).toMatchObject({
    stages: [
      { rooms: 1, manual: false },
      { percent: 100, manual: true },
    ],
    soakMinutes: 30,
    failures: { percent: 5, atLeast: 1 },
    onFailure: 'rollBack',
    respect: { window: true, idle: false },
    pace: { atOnce: 50, atOncePerLocation: 5 },
    stageCounts: [{ unitCount: 1 }, { unitCount: 0 }],
  })
  const { body: reboot } = await create({ stages, action: { type: 'REBOOT' } })
  expect(reboot).toMatchObject({ onFailure: 'pause', respect: { window: true, idle: true } })
  const { body: profile } = await create({ stages, action: { type: 'ASSIGN_PROFILE', profileId: null } })
  expect(profile).toMatchObject({ onFailure: 'rollBack', respect: { window: true, idle: true } })
})

test('a job starts later if it says so, and expires 14 days after that', async () => {
  const startAt = new Date(harness.clock.now() + 3_600_000).toISOString()
  const { body } = await create({ startAt, start: true })
  const deadline = new Date(Date.parse(startAt) + 14 * 86_400_000).toISOString()
  expect(body).toMatchObject({ state: 'SCHEDULED', startAt, deadline })
  expect(body.startedAt).toBeUndefined()
})

test('a password is sealed, left out of answers and masked in the audit log', async () => {
  const action = { type: 'CONFIG', config: { settingsPassword: 'Quite secret', nightMode: null } }
  const made = await create({ action })
  expect(made.body.action).toEqual({ type: 'CONFIG', config: { nightMode: null } })
  const [entry] = await f.audit()
  expect(entry?.details.after.action.config).toEqual({ settingsPassword: '***', nightMode: null })
  expect(JSON.stringify(await f.audit())).not.toContain('Quite secret')
  const row = await harness.services.db.system.kysely
    .selectFrom('jobs')
    .selectAll()
    .where('org', '=', f.org.key)
    .where('id', '=', Number(made.body.id))
    .executeTakeFirstOrThrow()
  expect(JSON.stringify(row)).not.toContain('Quite secret')
  expect(Object.keys(JSON.parse(row.secrets))).toEqual(['settingsPassword'])
})

test('keys that a profile locks are one error for all of them, or the units are skipped', async () => {
  const org = await newFixture(harness)
  const profile = { name: 'Fixed', config: { nightMode: false, brightness: 0.5 } }
  const { id } = (await org.call('POST', '/profiles', { body: profile })).body.profile
  await org.call('PUT', `/endpoints/${org.endpoint}/profile`, { body: { profileId: id } })
  const action = { type: 'CONFIG', config: { brightness: 0.2, nightMode: true, bluetooth: true } }
  const body = { name: 'Night mode', target: { roomIds: [org.room] }, action }
  expect((await org.call('POST', '/jobs', { body })).body).toMatchObject({
    code: 'FAILED_PRECONDITION',
    message:
      'Failed to apply config: attempted to override profile settings: the following fields contain conflicts: [brightness, nightMode]',
  })
  const planned = (await org.call('POST', '/jobs/plan', { body })).body
  const conflict = { endpointId: org.endpoint, roomId: org.room, profileId: id, keys: ['brightness', 'nightMode'] }
  expect(planned).toMatchObject({ conflictCount: 1, conflicts: [conflict], rooms: [{ outcome: 'skipped' }] })
  const skipping = await org.call('POST', '/jobs', { body: { ...body, skipConflicts: true, start: true } })
  expect(skipping.body.counts).toEqual({ SKIPPED: 1 })
  expect((await org.call('GET', `/jobs/${skipping.body.id}/rooms`)).body.rooms[0]).toMatchObject({
    state: 'SKIPPED',
    reason: `profile ${id} locks brightness, nightMode`,
  })
})
