// Statements of jobs, of their units and of their rollbacks that few requests reach.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStores, type StoreWorld, storedAt } from '../../../test/support/database/store-world.ts'
import type { TestOrg } from '../../../test/support/harness.ts'
import { newJobs } from '../../../test/support/jobs.ts'
import { dayMs } from '../../contract/durations.ts'
import type { TelemetryTx } from '../db/handles.ts'
import { findJobName } from '../incidents/engine/engine-store.ts'
import { findPersonById } from './engine/actor-store.ts'
import { listEndpointsOfOtherJobs, listSoakingUnits } from './engine/facts-store.ts'
import { updateJobSize } from './engine/progress-store.ts'
import { deleteMoves, listMoves, upsertMoves } from './engine/rollback/move-store.ts'
import { listUnconfirmedUnits, listUnitsInRollback } from './engine/rollback/rollback-store.ts'
import {
  deleteRecurringJobLocation,
  deleteRunsBefore,
  hasRun,
  insertRecurringJobLocation,
  listLocationsOfRecurringJob,
  listRuns,
  listVisibleRuns,
} from './recurring/store.ts'
import { restartRange } from './units/unit-change-store.ts'
import { countSteerableRange } from './units/unit-count-store.ts'
import { listEndpointsInJob, listSentReboots, listVisibleUnits, listWaitingGroups } from './units/unit-store.ts'

let world: StoreWorld
/** Jobs about the endpoint in room 1. */
let soaking: number
let rolledBack: number
beforeAll(async () => {
  world = await openStores()
  const [harness, org] = world.rows
  const about = { room: 1, endpoint: world.here.id }
  const ids = await newJobs(harness, org as TestOrg, [
    { ...about, state: 'RUNNING', unit: 'SOAKING' },
    { ...about, state: 'ROLLED_BACK', unit: 'ROLLED_BACK', endpointState: 'ROLLED_BACK' },
  ])
  ;[soaking = 0, rolledBack = 0] = ids.map(Number)
})
afterAll(() => world.close())

const range = { from: 1, to: 10 }

test('units are listed and counted for callers who see their rooms', async () => {
  const { all, ofRegion, ofNothing } = world
  const stages = { firstStage: 1, lastStage: 1, after: 0, limit: 10 }
  const units = (on: typeof all, room: number) =>
    listVisibleUnits(on, { job: soaking, states: ['SOAKING'], room, ...stages })
  for (const on of [all, ofRegion]) {
    expect((await units(on, 1)).map(({ number }) => number)).toEqual([1])
    expect(await countSteerableRange(on, { job: soaking, ...range })).toEqual([{ count: 1 }])
  }
  expect(await units(all, 2)).toEqual([])
  const marked = async (filter: 'failed' | 'notFailed', job: number) =>
    (await listVisibleUnits(all, { job, states: ['SOAKING', 'ROLLED_BACK'], ...stages }, [filter])).length
  expect(await marked('notFailed', soaking)).toBe(1)
  await world.rows[0].services.db.systemTransaction(({ kysely }) =>
    kysely.updateTable('job_units').set({ failure: 'no screen' }).where('job_id', '=', rolledBack).execute(),
  )
  expect([await marked('failed', rolledBack), await marked('failed', soaking)]).toEqual([1, 0])
  expect(await units(ofNothing, 1)).toEqual([])
  expect(await countSteerableRange(ofNothing, { job: soaking, ...range })).toEqual([{ count: 0 }])
})

test('the endpoints that a job has are found', async () => {
  const { all, here, there } = world
  const found = await listEndpointsInJob(all, { job: soaking, endpoints: [here.id, there.id] })
  expect(found).toEqual([{ endpoint_id: here.id }])
  const others = await listEndpointsOfOtherJobs(all, { jobs: [soaking], endpoints: [here.id, there.id] })
  expect(others).toMatchObject([{ job_id: soaking, endpoint_id: here.id, unit_state: 'SOAKING' }])
})

test('units that soak are listed, and their soak starts again', async () => {
  const { all } = world
  const page = { job: soaking, after: 0, limit: 10 }
  expect((await listSoakingUnits(all, page)).map(({ number }) => number)).toEqual([1])
  const restart = { job: soaking, ...range, now: storedAt, soakUntil: storedAt + 5 }
  expect(await all.transaction((tx) => restartRange(tx, restart))).toEqual([{ number: 1 }])
  expect((await listSoakingUnits(all, page))[0]).toMatchObject({ soak_until: storedAt + 5 })
})

test('the reboots of a job that wait are listed with their groups', async () => {
  const { all, org, here, put, rows } = world
  const [operation, group] = [randomUUID(), randomUUID()]
  const sent = { sent_at: null, told_at: null, sent_connection: null, told_connection: null, error: null }
  const times = { created_at: storedAt, updated_at: storedAt, deadline: storedAt + 1000, ...sent }
  const reboot = { type: 'REBOOT', state: 'QUEUED', payload: '{}', reboot_time: 'idle', waits_for: 'idle' } as const
  await put('operations', {
    org,
    id: operation,
    endpoint_id: here.id,
    ...reboot,
    ...times,
    group_id: group,
    attempt_of: null,
  })
  const [harness, organisation] = rows
  const about = { room: 1, endpoint: here.id, operation, state: 'RUNNING' } as const
  const [id] = await newJobs(harness, organisation as TestOrg, [about])
  expect(await listWaitingGroups(all, { job: Number(id) })).toEqual([{ group_id: group }])
  const reboots = await listSentReboots(all, { job: Number(id) })
  expect(reboots).toEqual([{ unit: 1, endpoint_id: here.id, group_id: group, waits_for: 'idle', own: 1 }])
})

test('the name of a job is read for an incident about it', async () => {
  expect(await findJobName(world.all, { id: soaking })).toEqual({ name: `Job ${soaking}` })
})

test('a job grows by units and endpoints', async () => {
  const { all, write } = world
  await all.transaction((tx) => updateJobSize(tx, { job: soaking, units: 2, endpoints: 3, now: storedAt }))
  const [job] = await write(({ kysely }) =>
    kysely.selectFrom('jobs').select(['unit_count', 'endpoint_count', 'version']).where('id', '=', soaking).execute(),
  )
  expect(job).toEqual({ unit_count: 3, endpoint_count: 4, version: 2 })
})

test('units whose connected devices have not confirmed a rollback are listed', async () => {
  const { all, org, here, put } = world
  const since = storedAt - 1
  const lists = async () => [
    await listUnitsInRollback(all, { job: rolledBack, ...range, since }),
    await listUnconfirmedUnits(all, { job: rolledBack, units: [1], since }),
  ]
  expect(await lists()).toEqual([[], []])
  await put('endpoint_configs', {
    org,
    endpoint_id: here.id,
    version: 2,
    state: 'PENDING',
    error: null,
    reported_at: null,
  })
  expect(await lists()).toEqual([[{ number: 1 }], [{ number: 1, location_id: null }]])
})

test('moved endpoints are stored with the rooms that they had, and forgotten', async () => {
  const { all, here } = world
  const move = { job_id: rolledBack, unit: 1, endpoint_id: here.id }
  await all.transaction((tx) => upsertMoves(tx, [{ ...move, room_before: 2, room_after: 1 }]))
  await all.transaction((tx) => upsertMoves(tx, [{ ...move, room_before: 3, room_after: 1 }]))
  const unit = { job: rolledBack, unit: 1 }
  const stored = { endpoint_id: here.id, room_before: 3, room_after: 1, room_name: 'Room 3' }
  expect(await listMoves(all, unit)).toEqual([stored])
  await all.transaction((tx) => deleteMoves(tx, { ...unit, ids: [here.id] }))
  expect(await listMoves(all, unit)).toEqual([])
})

test('the person who started a job is read with their regions', async () => {
  const { all, org, put } = world
  const user = {
    org,
    id: 1,
    version: 1,
    email: 'a@example.org',
    email_key: 'a@example.org',
    name: null,
    invited_at: null,
  }
  await put('users', {
    ...user,
    role: 'admin',
    state: 'ACTIVE',
    all_regions: 0,
    signed_in_at: null,
    last_seen_at: null,
  })
  await put('user_regions', { org, user_id: 1, region_id: 2 })
  const person = await findPersonById(all, { id: 1 })
  expect(person).toMatchObject({ id: 1, role: 'admin', all_regions: 0 })
  expect(JSON.parse(String(person?.regions))).toEqual([2])
})

test('the runs of a recurring job are listed for callers who see their jobs, and deleted when they are old', async () => {
  const { all, ofRegion, ofNothing, org, put } = world
  const actor = { actor_type: 'CLI', actor_id: 'test', actor_name: 'Test', user_id: null, key_id: null } as const
  const request = {
    action: '{"type":"REBOOT"}',
    target: '{"all":true}',
    settings: '{}',
    schedule: '{}',
    within_hours: 4,
  }
  const times = { created_at: storedAt, handled_until: storedAt }
  const state = { state: 'ACTIVE', reason: null, unplaced: 0, version: 1 } as const
  await put('recurring_jobs', { org, id: 1, name: 'Every night', ...state, ...request, ...actor, ...times })
  const run = { org, recurring_job: 1, timezone: 'Europe/Oslo' }
  await put(
    'recurring_job_runs',
    { ...run, at: storedAt - dayMs, job_id: soaking, reason: null },
    { ...run, at: storedAt, job_id: null, reason: 'Job 1 has not ended.' },
  )
  const page = { id: 1, limit: 10 }
  for (const list of [listRuns, listVisibleRuns]) {
    expect((await list(all, page)).map(({ at }) => at)).toEqual([storedAt, storedAt - dayMs])
  }
  expect(await listVisibleRuns(ofRegion, page)).toMatchObject([{ job_id: soaking }])
  expect(await listVisibleRuns(ofNothing, page)).toEqual([])
  const has = (timezone: string) => hasRun(all, { id: 1, at: storedAt, timezone })
  expect([await has('Europe/Oslo'), await has('Asia/Tokyo')]).toEqual([true, false])
  await all.telemetry((tx) => deleteRunsBefore(tx, { id: 1, before: storedAt }))
  expect((await listRuns(all, page)).map(({ at }) => at)).toEqual([storedAt])
})

test('the locations of a recurring job are added and deleted, and a location that is gone is not added', async () => {
  const { all } = world
  const change = (work: (tx: TelemetryTx) => Promise<unknown>) => all.telemetry(work)
  for (const location of [1, 2, 99]) await change((tx) => insertRecurringJobLocation(tx, { id: 1, location }))
  await change((tx) => deleteRecurringJobLocation(tx, { id: 1, location: 2 }))
  expect(await listLocationsOfRecurringJob(all, { id: 1 })).toEqual([{ location: 1, region: 1 }])
})
