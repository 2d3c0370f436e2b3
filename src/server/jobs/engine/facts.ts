// The facts from which the engine decides on the next steps of a job: the job, its counts, the units that run and those that could begin.
import type { OperationWait } from '../../../contract/fleet/commands.ts'
import type { JobState, UnitState, WaitReason } from '../../../contract/jobs/job-states.ts'
import type { JobEndpointState } from '../../db/schema/jobs.ts'
import type { JobSettings } from '../rows.ts'
import type { Health } from './health/judge-health.ts'

interface EngineJob {
  readonly state: JobState
  readonly settings: JobSettings
  /** The present stage from 1; 0 before the first. */
  readonly stage: number
  readonly stageCount: number
  /** How many stages have started. */
  readonly startedStages: number
  readonly startAt: number | null
  readonly deadline: number | null
  /** How many units had begun, and how many of them had failed, when a person last resumed or retried the job. */
  readonly begunBefore: number
  readonly failedBefore: number
}

export interface UnitTallyRow {
  readonly stage: number
  readonly state: UnitState
  /** The reason why the units wait; null in the other states. */
  readonly reason: string | null
  readonly count: number
}

/** The outcome of an effect: OPEN until the device has answered, and UNSENT if a reboot waited until its deadline. */
export interface EffectOutcome {
  readonly state: 'OPEN' | 'DONE' | 'FAILED' | 'UNSENT'
  readonly error?: string
  /** Set for a reboot that waits, or waited until its deadline. */
  readonly waitsFor?: OperationWait
}

export interface EndpointFacts {
  readonly id: string
  readonly state: JobEndpointState
  readonly error: string | null
  /** The endpoint was deleted since the job started. */
  readonly isRemoved: boolean
  /** Set for an endpoint that is SENT. */
  readonly outcome: EffectOutcome
}

/** A unit that is RUNNING or SOAKING. */
export interface ActiveUnit {
  readonly number: number
  readonly stage: number
  readonly state: 'RUNNING' | 'SOAKING'
  readonly locationId: number | null
  readonly sentAt: number | null
  readonly soakUntil: number | null
  readonly endpoints: readonly EndpointFacts[]
  /** Set for a unit that soaks. */
  readonly health: Health
}

/** A unit that is PENDING or WAITING. */
export interface Candidate {
  readonly number: number
  readonly stage: number
  readonly state: 'PENDING' | 'WAITING'
  readonly reason: string | null
  readonly locationId: number | null
  /** True if all endpoints of the unit were deleted. */
  readonly isEmpty: boolean
  /** The first thing that the unit has to wait for, other than the pace. */
  readonly blockedBy: Exclude<WaitReason, 'pace'> | undefined
}

export interface JobFacts {
  readonly now: number
  readonly job: EngineJob
  readonly counts: readonly UnitTallyRow[]
  /** How many units have begun, whatever became of them. */
  readonly begun: number
  readonly active: readonly ActiveUnit[]
  /** In the order in which units begin. There may be more in the tables than are given here. */
  readonly candidates: readonly Candidate[]
}
