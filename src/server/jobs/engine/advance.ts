// Decides on the next steps of a job, without a database: what begins, waits, ends, and what becomes of the job. [contract 12.states]
import { minuteMs } from '../../../contract/durations.ts'
import { type UnitState, unitStates, type WaitReason } from '../../../contract/jobs/job-states.ts'
import type { JobEndpointState } from '../../db/schema/jobs.ts'
import type { JobSettings } from '../rows.ts'
import type { ActiveUnit, Candidate, EndpointFacts, JobFacts } from './facts.ts'
import { isOverLimit } from './health/judge-health.ts'
import { UnitTally } from './unit-tally.ts'

/** An endpoint that is not done this long after its effect was sent has failed. */
export const notDoneAfterMs = 30 * minuteMs

interface EndpointStep {
  readonly id: string
  readonly from: JobEndpointState
  /** PENDING if a reboot was not sent, and is asked for again later. */
  readonly state: JobEndpointState
  readonly error: string | null
}

interface UnitStep {
  readonly number: number
  readonly from: UnitState
  readonly to: UnitState
  readonly reason: string | null
  readonly soakUntil?: number
}

export type JobChange =
  | { readonly type: 'start' }
  /** The stage becomes the present one. A manual one starts when the job is resumed. */
  | { readonly type: 'enterStage'; readonly stage: number; readonly isManual: boolean }
  | { readonly type: 'pause'; readonly reason: string }
  | { readonly type: 'stop'; readonly reason: string }
  | { readonly type: 'rollBack' }
  | { readonly type: 'end'; readonly state: 'SUCCEEDED' | 'INCOMPLETE' | 'ROLLED_BACK'; readonly reason: string | null }

export interface Advance {
  readonly endpoints: readonly EndpointStep[]
  readonly units: readonly UnitStep[]
  /** Whether all units that have not begun expire. */
  readonly expires: boolean
  /** Units that run and have endpoints to which nothing was sent yet. */
  readonly send: readonly number[]
  /** Units that begin now, in their order. */
  readonly begin: readonly number[]
  /** Whether units that could begin have to wait for the pace. */
  readonly isPaced: boolean
  /** The number of a stage that starts now, before its units begin. */
  readonly startedStage: number | undefined
  readonly change: JobChange | undefined
}

const noChange: Advance = {
  endpoints: [],
  units: [],
  expires: false,
  send: [],
  begin: [],
  isPaced: false,
  startedStage: undefined,
  change: undefined,
}

export function advanceJob(facts: JobFacts): Advance {
  const { job, now } = facts
  if (job.state === 'SCHEDULED') {
    return (job.startAt ?? now) <= now ? { ...noChange, change: { type: 'start' } } : noChange
  }
  const judged = facts.active.map((unit) => judgeUnit(unit, facts))
  const units = judged.flatMap(({ step }) => step ?? [])
  const tally = new UnitTally(facts.counts)
  tally.move(facts.active, units)
  const expires = job.deadline !== null && job.deadline <= now && tally.countNotBegun() > 0
  if (expires) tally.expire()
  const advance: Advance = {
    ...noChange,
    endpoints: judged.flatMap(({ endpoints }) => endpoints),
    units,
    expires,
    send: judged.flatMap(({ sends }) => sends ?? []),
  }
  if (job.state !== 'RUNNING') return { ...advance, change: afterStop(facts, tally) }
  const change = unplannedChange(facts, tally)
  if (change) return { ...advance, change }
  if (tally.countOpen() === 0) return { ...advance, change: endChange(tally) }
  return beginUnits(facts, advance, tally)
}

/** The rollback waits for what runs, so that nothing of the job is sent after it. A paused job ends at its deadline. */
function afterStop({ job, now }: JobFacts, tally: UnitTally): JobChange | undefined {
  if (job.state === 'STOPPED' && job.settings.onFailure === 'rollBack') {
    return tally.count('RUNNING') === 0 ? { type: 'rollBack' } : undefined
  }
  const isLate = job.deadline !== null && job.deadline <= now
  return isLate && tally.countOpen() === 0 ? endChange(tally) : undefined
}

/** Failures stop the job, and something that is not its fault pauses it. */
function unplannedChange({ job, begun, active }: JobFacts, tally: UnitTally): JobChange | undefined {
  const counted = { begun: begun - job.begunBefore, failed: tally.count('FAILED') - job.failedBefore }
  if (isOverLimit(counted, job.settings.failures)) {
    return { type: 'stop', reason: `${counted.failed} of ${roomsText(counted.begun)} failed.` }
  }
  for (const { state, health } of active) {
    if (state === 'SOAKING' && health.state === 'outage') return { type: 'pause', reason: `${health.reason}.` }
  }
  return undefined
}

function endChange(tally: UnitTally): JobChange {
  const rooms = roomsText(tally.count(...unitStates))
  const others = unsuccessful
    .map(([state, text]) => ({ text, count: tally.count(state) }))
    .filter(({ count }) => count > 0)
    .map(({ text, count }, i) => (i === 0 ? `${count} of ${rooms} ${text}` : `${count} ${text}`))
  if (others.length === 0) return { type: 'end', state: 'SUCCEEDED', reason: null }
  return { type: 'end', state: 'INCOMPLETE', reason: `${others.join(', ')}.` }
}

const unsuccessful = [
  ['FAILED', 'failed'],
  ['EXPIRED', 'expired'],
  ['CANCELLED', 'cancelled'],
  ['ROLLED_BACK', 'rolled back'],
  ['KEPT', 'not rolled back'],
] as const satisfies [UnitState, string][]

const roomsText = (count: number): string => (count === 1 ? '1 room' : `${count} rooms`)

interface JudgedUnit {
  readonly endpoints: readonly EndpointStep[]
  readonly step: UnitStep | undefined
  /** The number of the unit, if something is still to be sent. */
  readonly sends: number | undefined
}

function judgeUnit(unit: ActiveUnit, facts: JobFacts): JudgedUnit {
  const to = (state: UnitState, reason: string | null, soakUntil?: number): UnitStep => ({
    ...{ number: unit.number, from: unit.state, to: state, reason },
    ...(soakUntil !== undefined && { soakUntil }),
  })
  const only = (step: UnitStep | undefined): JudgedUnit => ({ endpoints: [], step, sends: undefined })
  if (unit.state === 'SOAKING') return only(judgeSoak(unit, facts, to))
  const present = unit.endpoints.filter(({ isRemoved }) => !isRemoved)
  if (present.length === 0) return only(to('SKIPPED', removedText))
  const isLate = unit.sentAt !== null && unit.sentAt + notDoneAfterMs <= facts.now
  const after = present.map((endpoint) => judgeEndpoint(endpoint, isLate))
  const endpoints = after.filter(({ from, state }) => state !== from)
  const has = (state: string) => after.some((step) => step.state === state)
  const error = after.find(({ state }) => state === 'FAILED')?.error
  // After a failure nothing more is sent, and the unit has failed when the answers of the others are there.
  if (error !== undefined) {
    return { endpoints, step: has('SENT') ? undefined : to('FAILED', error), sends: undefined }
  }
  const waited = present.find(({ state, outcome }) => state === 'SENT' && outcome.state === 'UNSENT')
  if (waited) {
    // The answers of the others come first. Then the unit waits again, and has not begun.
    if (has('SENT'))
      return { endpoints: endpoints.filter(({ state }) => state !== 'PENDING'), step: undefined, sends: undefined }
    return { endpoints, step: to('WAITING', waited.outcome.waitsFor ?? 'idle'), sends: undefined }
  }
  if (has('PENDING') || has('SENT')) {
    return { endpoints, step: undefined, sends: has('PENDING') ? unit.number : undefined }
  }
  const { soakMinutes } = facts.job.settings
  const step = soakMinutes === 0 ? to('SUCCEEDED', null) : to('SOAKING', null, facts.now + soakMinutes * minuteMs)
  return { endpoints, step, sends: undefined }
}

const removedText = 'All of its devices were deleted.'
const lateText = `Not confirmed within ${notDoneAfterMs / minuteMs} minutes after it was sent.`
const unsentText = `Not sent within ${notDoneAfterMs / minuteMs} minutes after the other devices of its room.`

function judgeEndpoint({ id, state, error, outcome }: EndpointFacts, isLate: boolean): EndpointStep {
  const to = (next: JobEndpointState, why: string | null): EndpointStep => ({
    id,
    from: state,
    state: next,
    error: why,
  })
  if (state === 'PENDING' && isLate) return to('FAILED', unsentText)
  if (state !== 'SENT') return to(state, error)
  if (outcome.state === 'UNSENT') return to('PENDING', null)
  if (outcome.state !== 'OPEN') return to(outcome.state, outcome.error ?? null)
  // A reboot that waits has a deadline of its own.
  return isLate && outcome.waitsFor === undefined ? to('FAILED', lateText) : to('SENT', error)
}

type MakeStep = (state: UnitState, reason: string | null) => UnitStep

function judgeSoak(
  { endpoints, health, soakUntil }: ActiveUnit,
  { now }: JobFacts,
  to: MakeStep,
): UnitStep | undefined {
  if (endpoints.every(({ isRemoved }) => isRemoved)) return to('SKIPPED', removedText)
  if (health.state === 'unhealthy') return to('FAILED', health.reason)
  // While a device is away and may come back, the soak does not end.
  return health.state === 'healthy' && (soakUntil ?? now) <= now ? to('SUCCEEDED', null) : undefined
}

function beginUnits(facts: JobFacts, advance: Advance, tally: UnitTally): Advance {
  const { job } = facts
  const isManual = (stage: number) => job.settings.stages[stage - 1]?.manual === true
  if (job.stage === 0 && isManual(1)) {
    return { ...advance, change: { type: 'enterStage', stage: 1, isManual: true } }
  }
  const stage = Math.max(job.stage, 1)
  const begin: number[] = []
  let isPaced = false
  const steps: UnitStep[] = []
  const candidates = advance.expires ? [] : facts.candidates
  const running = advance.units.filter(({ from }) => from === 'RUNNING').map(({ number }) => number)
  const pace = new Pace(
    job.settings.pace,
    facts.active.filter(({ state, number }) => state === 'RUNNING' && !running.includes(number)),
  )
  for (const candidate of candidates) {
    if (candidate.stage > stage) continue
    if (candidate.isEmpty) {
      steps.push({ number: candidate.number, from: candidate.state, to: 'SKIPPED', reason: removedText })
      continue
    }
    const reason = candidate.blockedBy ?? (pace.take(candidate) ? undefined : 'pace')
    isPaced ||= reason === 'pace'
    if (reason === undefined) begin.push(candidate.number)
    else if (candidate.state !== 'WAITING' || candidate.reason !== reason) steps.push(waitStep(candidate, reason))
  }
  tally.move(candidates, steps)
  const advanced = { ...advance, units: [...advance.units, ...steps], begin, isPaced }
  if (begin.length === 0 && tally.countOpen() === 0) return { ...advanced, change: endChange(tally) }
  const isStageOver = begin.length === 0 && tally.isOver(stage) && stage < job.stageCount
  return {
    ...advanced,
    startedStage: job.startedStages < stage ? stage : undefined,
    change: isStageOver ? { type: 'enterStage', stage: stage + 1, isManual: isManual(stage + 1) } : undefined,
  }
}

const waitStep = ({ number, state }: Candidate, reason: WaitReason): UnitStep => ({
  ...{ number, from: state, to: 'WAITING', reason },
})

/** Limits how many units run at the same time, in all and in each location. */
class Pace {
  readonly #limits: JobSettings['pace']
  #running = 0
  readonly #byLocation = new Map<number | null, number>()

  constructor(limits: JobSettings['pace'], running: readonly Pick<ActiveUnit, 'locationId'>[]) {
    this.#limits = limits
    for (const { locationId } of running) this.#count(locationId)
  }

  /** Counts the unit if it may run too. */
  take({ locationId }: Pick<Candidate, 'locationId'>): boolean {
    const { atOnce, atOncePerLocation } = this.#limits
    if (this.#running >= atOnce) return false
    // Rooms without a location have nothing in common.
    if (locationId !== null && (this.#byLocation.get(locationId) ?? 0) >= atOncePerLocation) return false
    this.#count(locationId)
    return true
  }

  #count(locationId: number | null): void {
    this.#running++
    this.#byLocation.set(locationId, (this.#byLocation.get(locationId) ?? 0) + 1)
  }
}
