// Decisions about jobs, without a database: single cases, and generated courses of events. [contract 12.states]
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JobWorld, settingsOf, type WorldUnit } from '../../../../test/support/jobs/job-world.ts'
import { runCount } from '../../../../test/support/long-form.ts'
import { dayMs, minuteMs } from '../../../contract/durations.ts'
import { openUnitStates, type UnitState } from '../../../contract/jobs/job-states.ts'
import type { JobSettings } from '../rows.ts'
import { advanceJob, notDoneAfterMs } from './advance.ts'
import type { JobFacts } from './facts.ts'

const auto = { manual: false }
const unitsOf = (...stages: number[]) => stages.map((stage) => ({ stage, locationId: null }))
const worldOf = (settings: Partial<JobSettings>, stages: number[], deadline: number | null = null) =>
  new JobWorld(settingsOf(settings), unitsOf(...stages), deadline)

/** The devices of all units that run have done what they were sent. */
function answer(world: JobWorld, state: 'DONE' | 'FAILED' = 'DONE', numbers?: number[]): void {
  for (const unit of world.units) {
    if (unit.state !== 'RUNNING' || (numbers && !numbers.includes(unit.number))) continue
    unit.endpoint = { ...unit.endpoint, outcome: { state, ...(state === 'FAILED' && { error: 'in use' }) } }
  }
}
const statesOf = (world: JobWorld) => world.units.map(({ state }) => state)

test('a bulk action begins all of its units, succeeds when all are done, and starts its only stage once', () => {
  const world = worldOf({}, [1, 1, 1])
  world.run(1000)
  expect(statesOf(world)).toEqual(['RUNNING', 'RUNNING', 'RUNNING'])
  expect(world.job).toMatchObject({ stage: 1, startedStages: 1 })
  answer(world)
  world.run(1000)
  expect(statesOf(world)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED'])
  expect(world.job.state).toBe('SUCCEEDED')
})

test('no more units run at once than the pace allows, in all and in a location', () => {
  const pace = { atOnce: 3, atOncePerLocation: 1 }
  const units = [7, 7, 8, 9, 10].map((locationId) => ({ stage: 1, locationId }))
  const world = new JobWorld(settingsOf({ pace }), units, null)
  world.run(1000)
  expect(statesOf(world)).toEqual(['RUNNING', 'WAITING', 'RUNNING', 'RUNNING', 'WAITING'])
  expect(world.units[1]?.reason).toBe('pace')
  answer(world, 'DONE', [1])
  world.run(1000)
  expect(statesOf(world)).toEqual(['SUCCEEDED', 'RUNNING', 'RUNNING', 'RUNNING', 'WAITING'])
})

test('a stage begins when the one before has soaked, and units without a connection hold nothing up', () => {
  const world = worldOf({ stages: [auto, auto], soakMinutes: 30 }, [1, 1, 2])
  ;(world.units[1] as WorldUnit).blockedBy = 'connection'
  world.run(1000)
  answer(world)
  world.run(1000)
  expect(statesOf(world)).toEqual(['SOAKING', 'WAITING', 'PENDING'])
  world.run(29 * minuteMs)
  expect(statesOf(world)).toEqual(['SOAKING', 'WAITING', 'PENDING'])
  world.run(minuteMs)
  world.run(1000)
  expect(statesOf(world)).toEqual(['SUCCEEDED', 'WAITING', 'RUNNING'])
  ;(world.units[1] as WorldUnit).blockedBy = undefined
  world.run(1000)
  expect(statesOf(world)).toEqual(['SUCCEEDED', 'RUNNING', 'RUNNING'])
})

test('a manual stage pauses the job, and starts when the job is resumed', () => {
  const world = worldOf({ stages: [auto, { manual: true }] }, [1, 2])
  world.run(1000)
  answer(world)
  world.run(1000)
  expect(world.job).toMatchObject({ state: 'PAUSED', stage: 2, startedStages: 1 })
  world.run(1000)
  expect(statesOf(world)).toEqual(['SUCCEEDED', 'PENDING'])
  world.resume()
  world.run(1000)
  expect(statesOf(world)).toEqual(['SUCCEEDED', 'RUNNING'])
  expect(world.job).toMatchObject({ state: 'RUNNING', startedStages: 2 })
})

test('a unit that is not done 30 minutes after it was sent has failed', () => {
  const world = worldOf({}, [1])
  world.run(1000)
  world.run(notDoneAfterMs - 1)
  expect(statesOf(world)).toEqual(['RUNNING'])
  world.run(1)
  expect(world.units[0]).toMatchObject({
    state: 'FAILED',
    reason: 'Not confirmed within 30 minutes after it was sent.',
  })
  expect(world.job.state).toBe('INCOMPLETE')
})

test('a reboot that waited for an empty room until its deadline is no failure: its unit waits and begins again', () => {
  const world = worldOf({}, [1, 1])
  world.run(1000)
  const first = world.units[0] as WorldUnit
  first.endpoint = { ...first.endpoint, outcome: { state: 'OPEN', waitsFor: 'idle' } }
  answer(world, 'DONE', [2])
  // The operation has a deadline of its own, and expires a moment later.
  world.run(notDoneAfterMs)
  expect(statesOf(world)).toEqual(['RUNNING', 'SUCCEEDED'])
  first.endpoint = { ...first.endpoint, outcome: { state: 'UNSENT', waitsFor: 'window' } }
  first.blockedBy = 'window'
  world.run(1000)
  expect(first).toMatchObject({ state: 'WAITING', reason: 'window', began: false, endpoint: { state: 'PENDING' } })
  first.blockedBy = undefined
  world.run(1000)
  expect(statesOf(world)).toEqual(['RUNNING', 'SUCCEEDED'])
  answer(world)
  world.run(1000)
  expect(world.job.state).toBe('SUCCEEDED')
})

test('an endpoint of a unit that runs to which nothing could be sent for 30 minutes has failed, also while the job is paused', () => {
  const world = worldOf({}, [1])
  world.run(1000)
  const unit = world.units[0] as WorldUnit
  unit.endpoint = { ...unit.endpoint, state: 'PENDING' }
  world.pause()
  world.run(notDoneAfterMs)
  expect(unit).toMatchObject({
    state: 'FAILED',
    reason: 'Not sent within 30 minutes after the other devices of its room.',
    endpoint: { state: 'FAILED' },
  })
})

test('too many failures stop the job; it is rolled back when nothing runs any more', () => {
  const failures = { percent: 20, atLeast: 1 }
  const world = worldOf({ failures, onFailure: 'rollBack', pace: { atOnce: 2, atOncePerLocation: 2 } }, [1, 1, 1])
  world.run(1000)
  answer(world, 'FAILED', [1])
  world.run(1000)
  expect(statesOf(world)).toEqual(['FAILED', 'RUNNING', 'WAITING'])
  expect(world.job.state).toBe('STOPPED')
  world.run(1000)
  expect(world.job.state).toBe('STOPPED')
  answer(world)
  world.run(1000)
  expect(statesOf(world)).toEqual(['FAILED', 'SUCCEEDED', 'WAITING'])
  expect(world.job.state).toBe('ROLLING_BACK')
})

test('an unhealthy unit fails during its soak, and an outage of its location pauses the job', () => {
  const world = worldOf({ soakMinutes: 10 }, [1, 1])
  world.run(1000)
  answer(world)
  world.run(1000)
  ;(world.units[0] as WorldUnit).health = { state: 'unhealthy', reason: 'incident 4 (config.rejected) opened' }
  ;(world.units[1] as WorldUnit).health = { state: 'outage', reason: '5 of 8 devices of Oslo are offline' }
  world.run(1000)
  expect(statesOf(world)).toEqual(['FAILED', 'SOAKING'])
  expect(world.job.state).toBe('PAUSED')
})

test('one failure of many does not stop a job that was paused and resumed while they soaked', () => {
  const failures = { percent: 5, atLeast: 1 }
  const world = worldOf({ soakMinutes: 30, failures }, Array(20).fill(1))
  world.run(1000)
  answer(world)
  world.run(1000)
  expect(world.count('SOAKING')).toBe(20)
  world.pause()
  world.run(20 * minuteMs)
  world.resume()
  ;(world.units[0] as WorldUnit).health = { state: 'unhealthy', reason: 'incident 4 (config.rejected) opened' }
  world.run(20 * minuteMs)
  expect(world.job.state).toBe('RUNNING')
  expect(world.count('SOAKING'), 'the soak began again').toBe(19)
  ;(world.units[1] as WorldUnit).health = { state: 'unhealthy', reason: 'incident 5 (config.rejected) opened' }
  world.run(1000)
  expect(world.job.state).toBe('STOPPED')
})

test('a paused or stopped job ends at its deadline when nothing of it runs any more', () => {
  const world = worldOf({ pace: { atOnce: 1, atOncePerLocation: 1 } }, [1, 1], 2_000_000)
  world.run(1000)
  world.pause()
  world.run(2_000_000 - world.now)
  expect(statesOf(world)).toEqual(['RUNNING', 'EXPIRED'])
  expect(world.job.state).toBe('PAUSED')
  answer(world)
  world.run(1000)
  expect(world.job.state).toBe('INCOMPLETE')
})

test('a scheduled job starts at its time, and what has not begun at the deadline expires', () => {
  const world = worldOf({}, [1, 1], 2_000_000)
  const scheduled = { ...world.job, state: 'SCHEDULED', startAt: 1_500_000 } as const
  const facts = (now: number): JobFacts => ({
    ...{ now, job: scheduled, counts: [], begun: 0, active: [], candidates: [] },
  })
  expect(advanceJob(facts(1_499_999)).change).toBeUndefined()
  expect(advanceJob(facts(1_500_000)).change).toEqual({ type: 'start' })
  ;(world.units[1] as WorldUnit).blockedBy = 'window'
  world.run(1000)
  world.run(2_000_000 - world.now)
  expect(statesOf(world)).toEqual(['RUNNING', 'EXPIRED'])
  answer(world)
  world.run(1000)
  expect(world.job.state).toBe('INCOMPLETE')
})

const ranks: readonly (readonly UnitState[])[] = [['PENDING'], ['WAITING'], ['RUNNING'], ['SOAKING']]
const rankOf = (state: UnitState) => {
  const rank = ranks.findIndex((states) => states.includes(state))
  return rank === -1 ? ranks.length : rank
}

const courses = fc.record({
  units: fc.array(fc.record({ stage: fc.integer({ min: 1, max: 3 }), locationId: fc.option(fc.nat(2)) }), {
    minLength: 1,
    maxLength: 12,
  }),
  soakMinutes: fc.constantFrom(0, 5, 60),
  manual: fc.boolean(),
  failures: fc.record({ percent: fc.constantFrom(0, 20, 100), atLeast: fc.integer({ min: 1, max: 3 }) }),
  pace: fc.record({ atOnce: fc.integer({ min: 1, max: 4 }), atOncePerLocation: fc.constantFrom(1, 2, 100) }),
  events: fc.array(
    fc.record({
      unit: fc.nat(11),
      what: fc.constantFrom(
        'done',
        'failed',
        'removed',
        'unhealthy',
        'outage',
        'pause',
        'resume',
        'window',
        'connection',
        'free',
      ),
      passMs: fc.constantFrom(1000, 1000, minuteMs, 10 * minuteMs, 40 * minuteMs),
    }),
    { maxLength: 60 },
  ),
})

test('after any course of events states only go forward, a paused job begins nothing, the pace holds, and every unit ends', () => {
  fc.assert(
    fc.property(courses, ({ units, soakMinutes, manual, failures, pace, events }) => {
      const deadline = 1_000_000 + 30 * dayMs
      const stages = [auto, { manual }, auto]
      const world = new JobWorld(settingsOf({ stages, soakMinutes, failures, pace }), units, deadline)
      const run = (passMs: number) => {
        const before = world.job.state
        world.run(passMs, 5)
        if (before !== 'RUNNING') expect(world.begunInRun).toEqual([])
        expect(world.count('RUNNING')).toBeLessThanOrEqual(pace.atOnce)
        for (const locationId of [0, 1, 2]) {
          const running = world.units.filter((unit) => unit.locationId === locationId && unit.state === 'RUNNING')
          expect(running.length).toBeLessThanOrEqual(pace.atOncePerLocation)
        }
        for (const { number, stage } of world.units.filter(({ began }) => began)) {
          expect(stage, `unit ${number} began in its stage`).toBeLessThanOrEqual(world.job.stage)
        }
      }
      for (const { unit, what, passMs } of events) {
        happen(world, world.units[unit % units.length] as WorldUnit, what)
        run(passMs)
      }
      // In the end the devices answer and are well, the rooms are free, and a person resumes the job.
      for (const unit of world.units) {
        unit.blockedBy = undefined
        unit.health = { state: 'healthy' }
      }
      for (let i = 0; i < 200 && !['SUCCEEDED', 'INCOMPLETE'].includes(world.job.state); i++) {
        if (world.job.state === 'PAUSED' || world.job.state === 'STOPPED') world.resume()
        answer(world)
        run(soakMinutes * minuteMs + 1000)
      }
      expect(['SUCCEEDED', 'INCOMPLETE']).toContain(world.job.state)
      expect(world.count(...openUnitStates)).toBe(0)
      expect(world.job.state === 'SUCCEEDED').toBe(world.count('SUCCEEDED', 'SKIPPED') === units.length)
      for (const history of world.histories.values()) {
        const ranked = history.map(rankOf)
        expect(ranked, history.join()).toEqual([...ranked].sort((a, b) => a - b))
        expect(ranked.filter((rank) => rank === ranks.length).length, 'a unit ends once').toBe(1)
        expect(history.filter((state) => state === 'RUNNING').length, 'a unit begins once').toBeLessThanOrEqual(1)
      }
    }),
    { numRuns: runCount({ short: 120, full: 400, long: 400 }) },
  )
})

function happen(world: JobWorld, unit: WorldUnit, what: string): void {
  const isRunning = world.job.state === 'RUNNING'
  if (what === 'done' || what === 'failed') answer(world, what === 'done' ? 'DONE' : 'FAILED', [unit.number])
  if (what === 'removed') unit.endpoint = { ...unit.endpoint, isRemoved: true }
  if (what === 'unhealthy' || what === 'outage') unit.health = { state: what, reason: what }
  if (what === 'pause' && isRunning) world.pause()
  if (what === 'resume' && (world.job.state === 'PAUSED' || world.job.state === 'STOPPED')) world.resume()
  if (what === 'window' || what === 'connection') unit.blockedBy = what
  if (what === 'free') unit.blockedBy = undefined
}
