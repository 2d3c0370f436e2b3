// Advances the jobs of an organisation: reads facts, decides on steps, writes them, and sends what begins. [contract 12.states]
import { setImmediate as nextTurn } from 'node:timers/promises'
import { minuteMs } from '../../../contract/durations.ts'
import { isReversible } from '../../../contract/jobs/action-table.ts'
import type { Services } from '../../context/services.ts'
import { DatabaseFailure } from '../../db/errors.ts'
import { jobEvents } from '../announce.ts'
import { actionOfJob, type JobRow, settingsOfJob } from '../rows.ts'
import { listActiveJobs } from '../store.ts'
import { type JobPlace, listJobLocations } from '../units/job-places.ts'
import type { UnitCount } from '../units/unit-count-store.ts'
import { countUnits } from '../units/unit-counts.ts'
import { findActorContext } from './actor.ts'
import { type Advance, advanceJob } from './advance.ts'
import { applyJobChange, applyUnitSteps, type EngineOrg, type StepInput, startStage } from './apply.ts'
import type { SendOptions } from './effects/effect.ts'
import { includeNew } from './include-new.ts'
import { type Cursor, type ReadFacts, type RunInput, readFacts } from './read-facts.ts'
import { advanceRollback } from './rollback/advance-rollback.ts'
import { RollbackQueue } from './rollback/rollback-queue.ts'
import { isRefusal, type SendResult, sendToUnit } from './send.ts'

/** Units of a job change their places when rooms move, which is rare. */
const placesAgeMs = minuteMs

/** How often jobs with `includeNew` look for endpoints that match since their start. */
const includeEveryMs = minuteMs

/** The units of a job by state. They change only together with its version or its progress. */
interface CountsOfVersion {
  readonly version: number
  readonly progress: number
  readonly rows: readonly UnitCount[]
}

/**
 * After so many errors in a row a job is paused, because its other units cannot go on either. Errors of the database do not count: a lock
 * or a slow statement ends by itself, and would pause every job of the organisation.
 */
const maxErrors = 5
const errorText = `An internal error stopped this job ${maxErrors} times in a row. The log of the service has the cause. Resume the job to try again.`

/** The part of a job that the engine remembers between two runs. It may be lost: it only saves work. */
interface JobMemory {
  readonly cursor: Cursor
  counts: CountsOfVersion | undefined
  places: { readonly rows: readonly JobPlace[]; readonly readAt: number } | undefined
  /** When endpoints that match since the start were last searched for. */
  includedAt: number
  /** How many runs in a row ended with an error that is not the database's. */
  errors: number
  /** The units by state, as JSON, when an event last told of a rollback. */
  publishedCounts: string
  readonly rollback: RollbackQueue
}

interface EngineOptions {
  /** A room is idle when it was not in use for this long. */
  readonly idleMs: () => number
  readonly send: () => SendOptions
}

export class JobEngine {
  readonly #options: EngineOptions
  readonly #memories = new WeakMap<AbortSignal, Map<number, JobMemory>>()

  constructor(options: EngineOptions) {
    this.#options = options
  }

  /** Must not run twice at the same time for an organisation. An error of one job does not keep the others from going on. */
  async advance(services: Services, org: EngineOrg, signal: AbortSignal): Promise<void> {
    // SQLite answers synchronously: without this, the event loop would be blocked until all organisations were visited.
    await nextTurn()
    const on = services.db.forOrg(org.key)
    const jobs = await listActiveJobs(on)
    if (jobs.length === 0) {
      this.#memories.delete(signal)
      return
    }
    const { idleMs, send } = this.#options
    const times = { now: services.clock.now(), idleMs: idleMs(), presence: services.reconnects.current }
    const run = { ...times, on, orgTimezone: org.timezone, jobs }
    const memories = this.#memoriesOf(signal, jobs)
    await readCounts(on, jobs, memories)
    let failure: { readonly error: unknown } | undefined
    for (const job of jobs) {
      if (signal.aborted) return
      const memory = memories.get(job.id) as JobMemory
      const input = { services, org, job, places: () => readPlaces(run, job, memory) }
      try {
        await advanceOne(run, input, memory.counts?.rows ?? [], memory, send())
        memory.errors = 0
      } catch (error) {
        failure ??= { error }
        if (!(error instanceof DatabaseFailure)) memory.errors++
        if (memory.errors >= maxErrors) await pauseIfRunning(input, errorText)
      }
    }
    if (failure) throw failure.error
  }

  /** Memories of jobs that are not active any more are dropped. */
  #memoriesOf(signal: AbortSignal, jobs: readonly JobRow[]): Map<number, JobMemory> {
    const before = this.#memories.get(signal)
    const newMemory = (): JobMemory => ({
      cursor: { after: 0, afterSoaking: 0 },
      rollback: new RollbackQueue(),
      ...{ counts: undefined, includedAt: 0, errors: 0, places: undefined, publishedCounts: '' },
    })
    const memories = new Map(jobs.map(({ id }) => [id, before?.get(id) ?? newMemory()]))
    this.#memories.set(signal, memories)
    return memories
  }
}

/** Reads the counts of jobs whose units have moved since the last run. */
async function readCounts(on: RunInput['on'], jobs: readonly JobRow[], memories: ReadonlyMap<number, JobMemory>) {
  const isKnown = ({ id, version, progress }: JobRow) => {
    const counts = memories.get(id)?.counts
    return counts?.version === version && counts.progress === progress
  }
  const changed = jobs.filter((job) => !isKnown(job))
  if (changed.length === 0) return
  const rows = await countUnits(on, changed)
  const byJob = Map.groupBy(rows, ({ job_id }) => job_id)
  for (const { id, version, progress } of changed) {
    const memory = memories.get(id)
    if (memory) memory.counts = { version, progress, rows: byJob.get(id) ?? [] }
  }
}

async function readPlaces({ on, now }: RunInput, job: JobRow, memory: JobMemory): Promise<readonly JobPlace[]> {
  const age = now - (memory.places?.readAt ?? Number.NEGATIVE_INFINITY)
  if (memory.places && age >= 0 && age < placesAgeMs) return memory.places.rows
  memory.places = { rows: await listJobLocations(on, job), readAt: now }
  return memory.places.rows
}

async function advanceOne(
  run: RunInput,
  input: StepInput,
  counts: readonly UnitCount[],
  memory: JobMemory,
  options: SendOptions,
): Promise<void> {
  const { job } = input
  if (job.state === 'ROLLING_BACK') return rollBack(run, input, counts, memory)
  if (!hasWork(run, job, counts)) return
  if (await addMatchingUnits(run, input, memory)) return publish(input, job)
  const facts = await readFacts(run, job, counts, memory.cursor)
  const advance = advanceJob(facts)
  // Units that wait for the pace come first in the next run.
  if (advance.isPaced) memory.cursor.after = 0
  if (!(await applyUnitSteps(input, advance))) return
  const moved = advance.units.length > 0 || advance.endpoints.length > 0 || advance.expires
  const started = advance.startedStage === undefined ? job : await startStage(input, advance.startedStage)
  if (!started) return
  const sent = await sendAll({ ...input, job: started }, advance, facts, options)
  if (advance.change && (await applyJobChange({ ...input, job: started }, advance.change))) return
  if (moved || sent) await publish(input, started)
}

/** Adds units for endpoints that match since the start, at most once a minute. Returns whether it added any: the next run handles them. */
async function addMatchingUnits({ now }: RunInput, input: StepInput, memory: JobMemory): Promise<boolean> {
  const { job, services, org } = input
  if (job.state !== 'RUNNING' || !settingsOfJob(job).includeNew || now - memory.includedAt < includeEveryMs)
    return false
  memory.includedAt = now
  const actor = await findActorContext(services, org, job)
  if (typeof actor === 'string') return false
  try {
    return (await includeNew(input, actor)) > 0
  } catch (error) {
    // The job would have too many endpoints, or its profile is gone: the units that exist go on.
    if (isRefusal(error)) return false
    throw error
  }
}

async function rollBack(
  { idleMs }: RunInput,
  input: StepInput,
  counts: readonly UnitCount[],
  memory: JobMemory,
): Promise<void> {
  const { services, org, job } = input
  const { respect, pace } = settingsOfJob(job)
  const actor = { type: job.actor_type, id: job.actor_id, name: job.actor_name }
  const { type, profileId } = actionOfJob(job)
  if (!isReversible(type)) throw new Error(`a job of the type ${type} is rolled back`)
  const settings = { respect, pace, isNow: job.rolls_back_now === 1 }
  const rolling = { id: job.id, unitCount: job.unit_count, action: { type, profileId }, ...settings, actor }
  if (await advanceRollback(services, org, rolling, idleMs, memory.rollback)) {
    await applyJobChange(input, { type: 'end', state: 'ROLLED_BACK', reason: job.reason })
    return
  }
  const text = JSON.stringify(counts)
  if (memory.publishedCounts !== text) await publish(input, job)
  memory.publishedCounts = text
}

/** At its deadline also a paused job ends. */
const isOverdue = (now: number, { deadline }: JobRow): boolean => deadline !== null && deadline <= now

/** A job that is paused, and of which nothing runs, needs no run until its deadline. */
function hasWork({ now }: RunInput, job: JobRow, counts: readonly UnitCount[]): boolean {
  const has = (...states: string[]) => counts.some(({ state }) => states.includes(state))
  switch (job.state) {
    case 'SCHEDULED':
      return (job.start_at ?? now) <= now
    case 'RUNNING':
    case 'STOPPED':
      return true
    default:
      return has('RUNNING', 'SOAKING') || isOverdue(now, job)
  }
}

/** Returns whether something was sent. */
async function sendAll(input: StepInput, advance: Advance, facts: ReadFacts, options: SendOptions): Promise<boolean> {
  const states = new Map(facts.candidates.map(({ number, state }) => [number, state as string]))
  const numbers = [...advance.send, ...advance.begin]
  if (numbers.length === 0) return false
  for (const number of numbers) {
    const unit = { number, state: states.get(number) ?? 'RUNNING', endpoints: facts.endpoints.get(number) ?? [] }
    // A right may be lost between two units.
    const actor = await findActorContext(input.services, input.org, input.job)
    if (typeof actor === 'string') {
      await pauseIfRunning(input, actor)
      return false
    }
    const result: SendResult = await sendToUnit(input, actor, unit, options)
    if (result === 'outdated') return true
    if (result !== 'sent') {
      await pauseIfRunning(input, result.pauseReason)
      return false
    }
    await nextTurn()
  }
  return true
}

/** A job that is paused already goes on with what runs when its actor has the rights again, or another person resumes it. */
async function pauseIfRunning(input: StepInput, reason: string): Promise<void> {
  if (input.job.state === 'RUNNING') await applyJobChange(input, { type: 'pause', reason })
}

async function publish({ services, org, places }: StepInput, job: JobRow): Promise<void> {
  const events = services.feed.forOrg(org.key)
  if (events.isFollowed()) events.publish(jobEvents({ ...job, updated_at: services.clock.now() }, await places()))
}
