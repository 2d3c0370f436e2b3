// A job with its units in memory, whose devices, rooms and people a test moves, and which advances as the engine lets it.
import { minuteMs } from '../../../src/contract/durations.ts'
import type { UnitState } from '../../../src/contract/jobs/job-states.ts'
import { advanceJob } from '../../../src/server/jobs/engine/advance.ts'
import type {
  ActiveUnit,
  Candidate,
  EndpointFacts,
  JobFacts,
  UnitTallyRow,
} from '../../../src/server/jobs/engine/facts.ts'
import type { Health } from '../../../src/server/jobs/engine/health/judge-health.ts'
import type { JobSettings } from '../../../src/server/jobs/rows.ts'

export interface WorldUnit {
  readonly number: number
  readonly stage: number
  readonly locationId: number | null
  state: UnitState
  reason: string | null
  began: boolean
  sentAt: number | null
  soakUntil: number | null
  endpoint: EndpointFacts
  blockedBy: Candidate['blockedBy']
  health: Health
}

export const settingsOf = (settings: Partial<JobSettings>): JobSettings => ({
  stages: [{ manual: false }],
  soakMinutes: 0,
  failures: { percent: 100, atLeast: 1 },
  onFailure: 'pause',
  respect: { window: false, idle: false },
  pace: { atOnce: 50, atOncePerLocation: 50 },
  skipConflicts: false,
  includeNew: false,
  ...settings,
})

export class JobWorld {
  now = 1_000_000
  job: JobFacts['job']
  readonly units: WorldUnit[]
  /** Every state that each unit has had. */
  readonly histories = new Map<number, UnitState[]>()
  begunInRun: number[] = []

  constructor(
    settings: JobSettings,
    units: readonly Pick<WorldUnit, 'stage' | 'locationId'>[],
    deadline: number | null,
  ) {
    const stageCount = settings.stages.length
    this.job = {
      ...{ state: 'RUNNING', settings, stage: 0, stageCount, startedStages: 0 },
      ...{ startAt: null, deadline, begunBefore: 0, failedBefore: 0 },
    }
    this.units = units.map(({ stage, locationId }, i) => ({
      ...{ number: i + 1, stage, locationId, state: 'PENDING', reason: null, began: false },
      ...{ sentAt: null, soakUntil: null, blockedBy: undefined, health: { state: 'healthy' } },
      endpoint: { id: `e${i}`, state: 'PENDING', error: null, isRemoved: false, outcome: { state: 'OPEN' } },
    }))
    for (const { number } of this.units) this.histories.set(number, ['PENDING'])
  }

  run(passMs: number, maxCandidates = 200): void {
    this.now += passMs
    const facts = this.#facts(maxCandidates)
    const { endpoints, units, expires, send, begin, startedStage, change } = advanceJob(facts)
    for (const { id, state, error } of endpoints) {
      const unit = this.units.find(({ endpoint }) => endpoint.id === id) as WorldUnit
      unit.endpoint = { ...unit.endpoint, state, error, ...(state === 'PENDING' && { outcome: { state: 'OPEN' } }) }
    }
    for (const { number, to, reason, soakUntil } of units) this.#become(number, to, reason, soakUntil)
    if (expires) {
      for (const { number, state } of this.units) if (isWaiting(state)) this.#become(number, 'EXPIRED', null)
    }
    this.begunInRun = [...begin]
    if (startedStage !== undefined) this.job = { ...this.job, stage: startedStage, startedStages: startedStage }
    for (const number of [...begin, ...send]) {
      const unit = this.units[number - 1] as WorldUnit
      if (unit.state !== 'RUNNING') this.#become(number, 'RUNNING', null)
      unit.began = true
      unit.sentAt = this.now
      unit.endpoint = { ...unit.endpoint, state: 'SENT' }
    }
    switch (change?.type) {
      case 'enterStage': {
        const { stage, isManual } = change
        this.job = { ...this.job, stage, ...(isManual ? { state: 'PAUSED' } : { startedStages: stage }) }
        break
      }
      case 'pause':
        this.job = { ...this.job, state: 'PAUSED' }
        break
      case 'stop':
        this.job = { ...this.job, state: 'STOPPED' }
        break
      case 'rollBack':
        this.job = { ...this.job, state: 'ROLLING_BACK' }
        break
      case 'end':
        this.job = { ...this.job, state: change.state }
        break
    }
  }

  resume(): void {
    const begunBefore = this.units.filter(
      ({ began, state }) => began && state !== 'RUNNING' && state !== 'SOAKING',
    ).length
    const soakUntil = this.now + this.job.settings.soakMinutes * minuteMs
    for (const unit of this.units) if (unit.state === 'SOAKING') unit.soakUntil = soakUntil
    this.job = { ...this.job, state: 'RUNNING', begunBefore, failedBefore: this.count('FAILED') }
  }

  pause(): void {
    this.job = { ...this.job, state: 'PAUSED' }
  }

  count = (...states: UnitState[]): number => this.units.filter(({ state }) => states.includes(state)).length

  #become(number: number, to: UnitState, reason: string | null, soakUntil?: number): void {
    const unit = this.units[number - 1] as WorldUnit
    unit.state = to
    unit.reason = reason
    if (to === 'WAITING') Object.assign(unit, { began: false, sentAt: null })
    if (soakUntil !== undefined) unit.soakUntil = soakUntil
    this.histories.get(number)?.push(to)
  }

  #facts(maxCandidates: number): JobFacts {
    const stage = Math.max(this.job.stage, 1)
    const counts: UnitTallyRow[] = this.units.map((unit) => ({
      ...{ stage: unit.stage, state: unit.state, reason: unit.state === 'WAITING' ? unit.reason : null, count: 1 },
    }))
    return {
      now: this.now,
      job: this.job,
      counts,
      begun: this.units.filter(({ began }) => began).length,
      active: this.units
        .filter(({ state }) => state === 'RUNNING' || state === 'SOAKING')
        .map((unit) => ({ ...unit, state: unit.state as ActiveUnit['state'], endpoints: [unit.endpoint] })),
      candidates: this.units
        .filter((unit) => isWaiting(unit.state) && unit.stage <= stage)
        .slice(0, maxCandidates)
        .map((unit) => ({ ...unit, state: unit.state as Candidate['state'], isEmpty: unit.endpoint.isRemoved })),
    }
  }
}

const isWaiting = (state: UnitState): boolean => state === 'PENDING' || state === 'WAITING'
