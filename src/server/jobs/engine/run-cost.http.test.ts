// Measures the CPU time of one run over a job with thousands of units that have nothing to do. [contract 12.states]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { threadCpuMs } from '../../../../test/support/cpu-time.ts'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import { newJob } from '../../../../test/support/jobs/job-devices.ts'
import { LargeFleet } from '../../../../test/support/jobs/large-fleet.ts'
import { cpuLimitMs, runCount } from '../../../../test/support/long-form.ts'
import { minuteMs } from '../../../contract/durations.ts'
import type { UnitState } from '../../../contract/jobs/job-states.ts'
import { JobEngine } from './engine.ts'

/** The promise is for 10,000. */
const unitCount = runCount({ short: 1000, full: 3000, long: 10_000 })
const tickLimitMs = cpuLimitMs(15)
/** A run that writes what 200 units wait for takes longer. It happens once in each unit's wait. */
const changingLimitMs = cpuLimitMs(40)
const runs = runCount({ short: 10, full: 20, long: 20 })
/** Other work of this process may fall into a round, such as collecting garbage: the best one counts. */
const rounds = 3

let harness: Harness
let fleet: LargeFleet
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(Date.UTC(2026, 4, 4, 12))
  fleet = await LargeFleet.make(harness, { rooms: unitCount, locations: 100 })
})
afterAll(() => harness.close())

/** Returns the mean CPU milliseconds of some runs, on this thread. On SQLite the database is part of it. */
async function measureRuns(count: number, run: () => Promise<void>): Promise<number> {
  const before = threadCpuMs()
  for (let i = 0; i < count; i++) await run()
  return (threadCpuMs() - before) / count
}

/** Returns the figures of runs in which 200 units change, and of runs in which none does. */
async function measureRunCost(): Promise<{ changing: number; still: number }> {
  const engine = new JobEngine({ idleMs: () => 10 * minuteMs, send: () => ({ logRetentionDays: 30 }) })
  const { signal } = new AbortController()
  const org = { ...fleet.org.org, timezone: 'UTC' }
  const run = () => engine.advance(harness.services, org, signal)
  // The first runs write what the units wait for.
  const changing = await measureRuns(unitCount / 200, run)
  for (let i = 0; i < 2; i++) await run()
  let still = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) still = Math.min(still, await measureRuns(runs, run))
  return { changing, still }
}

const setUnits = (id: string, state: UnitState, soakUntil: number | null) =>
  fleet.write(async (db) => {
    const now = harness.clock.now()
    await db
      .updateTable('job_units')
      .set({ state, began_at: now, sent_at: now, soak_until: soakUntil })
      .where('job_id', '=', Number(id))
      .execute()
    await db
      .updateTable('jobs')
      .set((e) => ({ version: e('version', '+', 1) }))
      .where('id', '=', Number(id))
      .execute()
    await db.updateTable('job_endpoints').set({ state: 'DONE' }).where('job_id', '=', Number(id)).execute()
  })

test('a run over thousands of units takes less than 15 ms of CPU while all wait for a window, a room, a connection, the pace or another job, or soak', async () => {
  const figures: Record<string, number> = {}
  const measure = async (name: string) => {
    const { changing, still } = await measureRunCost()
    figures[name] = still
    return changing
  }
  const setLocations = (change_window: string | null) =>
    fleet.write((db) => db.updateTable('locations').set({ change_window }).execute())
  const setEndpoints = (values: { node_id?: number | null; status?: string; call_ended_at?: number | null }) =>
    fleet.write((db) => db.updateTable('endpoints').set(values).execute())
  const make = (more: object) =>
    newJob(fleet.org, {
      target: { models: ['NF19B1'] },
      action: { type: 'CONFIG', config: { nightMode: true } },
      ...more,
    })
  const read = async (id: string) => (await fleet.org.call('GET', `/jobs/${id}`)).body

  await setLocations(JSON.stringify({ days: ['mon'], from: '20:00', to: '05:00' }))
  const { id } = await make({ stages: [{ percent: 100 }], respect: { window: true, idle: true } })
  const changing = await measure('window')
  expect(await read(id)).toMatchObject({ state: 'RUNNING', waiting: { window: unitCount } })

  await setLocations(null)
  await setEndpoints({ status: JSON.stringify({ inCallStatus: 'ZOOM' }) })
  await measure('call')
  expect(await read(id)).toMatchObject({ state: 'RUNNING', waiting: { idle: unitCount } })
  // For some minutes after a call a room is neither in use nor idle, which costs more statements.
  await setEndpoints({
    ...{ status: JSON.stringify({ inCallStatus: 'NONE' }), call_ended_at: harness.clock.now() - 5 * minuteMs },
  })
  await measure('after a call')
  expect(await read(id)).toMatchObject({ state: 'RUNNING', waiting: { idle: unitCount } })

  await setEndpoints({ node_id: null })
  await measure('connection')
  expect(await read(id)).toMatchObject({ state: 'RUNNING', waiting: { connection: unitCount } })

  await setEndpoints({ node_id: harness.services.node?.id ?? null })
  await setUnits(id, 'SOAKING', harness.clock.now() + 30 * minuteMs)
  await measure('soak')
  expect(await read(id)).toMatchObject({ state: 'RUNNING', counts: { SOAKING: unitCount } })

  const later = await make({})
  const { still: bothJobs } = await measureRunCost()
  expect(await read(later.id)).toMatchObject({ state: 'RUNNING', waiting: { 'other job': unitCount } })

  for (const one of [id, later.id]) await fleet.org.call('POST', `/jobs/${one}/cancel`)
  const paced = await make({})
  await measure('pace')
  expect(await read(paced.id)).toMatchObject({ state: 'RUNNING', counts: { RUNNING: 50 } })

  const all = { ...figures, 'soak and another job': bothJobs, '200 units change': changing }
  const text = Object.entries(all).map(([name, ms]) => `${name} ${ms.toFixed(1)} ms`)
  process.stdout.write(`a run over ${unitCount} units: ${text.join(', ')}\n`)
  for (const [name, ms] of Object.entries(figures)) expect(ms, name).toBeLessThan(tickLimitMs)
  expect(bothJobs, 'two jobs of this size').toBeLessThan(2 * tickLimitMs)
  expect(changing, '200 units change').toBeLessThan(changingLimitMs)
})
