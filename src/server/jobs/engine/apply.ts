// Writes the steps of a job that have no effect on endpoints: units, stages, and what becomes of the job. [contract 12.states]
import { openUnitStates } from '../../../contract/jobs/job-states.ts'
import { type RequestContext, unrestrictedContext } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import type { TelemetryTx, Tx } from '../../db/handles.ts'
import type { EventDraft } from '../../events/draft.ts'
import { type ChangeId, change } from '../../journal/audit/change.ts'
import { waitForChanges } from '../../journal/audit/store.ts'
import { type JobMessage, jobEvents, jobRef, locatedRows, queueJobMessage } from '../announce.ts'
import { hasJobSlot } from '../create.ts'
import { type JobRow, stageTimesOfJob } from '../rows.ts'
import { endUnits } from '../units/change-units.ts'
import type { JobPlace } from '../units/job-places.ts'
import type { Advance, JobChange } from './advance.ts'
import { lockJobIfUnchanged } from './lock-job.ts'
import { raiseJobProgress, updateJobEndpointState, updateJobProgress, updateUnitState } from './progress-store.ts'
import { takeBackReboots } from './take-back-reboots.ts'

export interface EngineOrg {
  readonly key: number
  readonly id: string
  readonly timezone: string
}

export interface StepInput {
  readonly services: Services
  readonly org: EngineOrg
  readonly job: JobRow
  readonly places: () => Promise<readonly JobPlace[]>
}

/** The columns of a job that the engine changes. */
type Changes = Partial<Pick<JobRow, 'state' | 'reason' | 'stage' | 'stage_times' | 'started_at' | 'ended_at'>>

const expiredText = 'The deadline of the job has passed.'

/** Writes the units that moved. Returns false if a person has changed the job since the steps were decided on. */
export async function applyUnitSteps(input: StepInput, { units, endpoints, expires }: Advance): Promise<boolean> {
  if (units.length === 0 && endpoints.length === 0 && !expires) return true
  const { services, org, job } = input
  const now = services.clock.now()
  return services.db.forOrg(org.key).bulkTransaction(async (tx) => {
    if (!(await lockJobIfUnchanged(tx, job))) return false
    for (const { id, from, state, error } of endpoints) {
      await updateJobEndpointState(tx, { job: job.id, id, from, state, error })
    }
    for (const { number, from, to, reason, soakUntil = null } of units) {
      const endedAt = (openUnitStates as readonly string[]).includes(to) ? null : now
      await updateUnitState(tx, { job: job.id, number, from, to, reason, soakUntil, endedAt })
    }
    if (expires) await endUnits(tx, job, { states: ['PENDING', 'WAITING'], state: 'EXPIRED', reason: expiredText, now })
    await raiseJobProgress(tx, { job: job.id, now })
    return true
  })
}

/** Starts a stage. Returns the job as it is then, or undefined if a person has changed it. */
export const startStage = (input: StepInput, stage: number): Promise<JobRow | undefined> => {
  const { job, services } = input
  const times = [...stageTimesOfJob(job).slice(0, stage - 1), services.clock.now()]
  return audited(input, 'jobStageStart', { stage, stage_times: JSON.stringify(times) }, { stage })
}

export async function applyJobChange(input: StepInput, to: JobChange): Promise<JobRow | undefined> {
  const now = input.services.clock.now()
  const takeBack = (tx: Tx | TelemetryTx) => takeBackReboots(tx, input.job, now)
  switch (to.type) {
    case 'start':
      return unaudited(input, { state: 'RUNNING', started_at: now }, 'job.started', { isPossible: hasSlot })
    case 'pause':
      return unaudited(input, { state: 'PAUSED', reason: to.reason }, 'job.paused', { work: takeBack })
    case 'enterStage': {
      if (!to.isManual) return startStage(input, to.stage)
      const reason = `Stage ${to.stage} waits for approval. Resume the job to start it.`
      return unaudited(input, { state: 'PAUSED', reason, stage: to.stage }, 'job.paused', { work: takeBack })
    }
    case 'stop':
      return audited(
        input,
        'jobStop',
        { state: 'STOPPED', reason: to.reason },
        { reason: to.reason },
        { message: 'job.stopped', work: takeBack },
      )
    case 'rollBack':
      return unaudited(input, { state: 'ROLLING_BACK' }, undefined, {
        work: async (tx) => {
          await endUnits(tx, input.job, { states: openUnitStates, state: 'CANCELLED', reason: null, now })
          return []
        },
      })
    case 'end': {
      const { state, reason } = to
      return audited(
        input,
        'jobEnd',
        { state, reason, ended_at: now },
        { ...(reason && { reason }) },
        { message: 'job.ended' },
      )
    }
  }
}

/** Several jobs may be due in one run, and people start others, so each job counts those that run by then. */
async function hasSlot(tx: TelemetryTx): Promise<boolean> {
  await waitForChanges(tx)
  return hasJobSlot(tx)
}

/** The service itself stops and ends jobs, and starts their stages. */
export const systemContext = (services: Services, { key, id }: EngineOrg): RequestContext =>
  unrestrictedContext(services, { key, id }, { type: 'SYSTEM', id: 'jobs', name: 'Jobs' })

async function audited(
  input: StepInput,
  operation: ChangeId,
  changes: Changes,
  details: Readonly<Record<string, unknown>>,
  { message, work = noWork }: { readonly message?: JobMessage; readonly work?: StepWork } = {},
): Promise<JobRow | undefined> {
  const { services, org, job } = input
  const places = await input.places()
  try {
    return await change(systemContext(services, org), operation, async (tx) => {
      if (!(await lockJobIfUnchanged(tx, job))) throw new JobChanged()
      tx.drafts.push(...(await work(tx)))
      const row = await writeJob(tx, services, job, changes)
      tx.drafts.push(...jobEvents(row, places))
      if (message) await queueJobMessage(tx, message, row, places)
      return {
        result: row,
        target: jobRef(job),
        ...(row.state !== job.state && { before: { state: job.state } }),
        after: { state: row.state, ...details },
        located: locatedRows(places),
      }
    })
  } catch (error) {
    if (error instanceof JobChanged) return undefined
    throw error
  }
}

/** Takes an audited change back. */
class JobChanged extends Error {}

/** Changes units in the transaction of a step, and returns the events to publish after the commit. */
type StepWork = (tx: Tx | TelemetryTx) => Promise<readonly EventDraft[]>
const noWork: StepWork = async () => []

interface UnauditedWork {
  /** Runs before the job is locked. */
  readonly isPossible?: (tx: TelemetryTx) => Promise<boolean>
  readonly work?: StepWork
}

async function unaudited(
  input: StepInput,
  changes: Changes,
  message: JobMessage | undefined,
  { isPossible = async () => true, work = noWork }: UnauditedWork = {},
): Promise<JobRow | undefined> {
  const { services, org, job } = input
  const places = await input.places()
  const step = await services.db.forOrg(org.key).bulkTransaction(async (tx) => {
    if (!(await isPossible(tx)) || !(await lockJobIfUnchanged(tx, job))) return undefined
    const drafts = await work(tx)
    const row = await writeJob(tx, services, job, changes)
    if (message) await queueJobMessage(tx, message, row, places)
    return { row, drafts }
  })
  if (step) services.feed.forOrg(org.key).publish([...step.drafts, ...jobEvents(step.row, places)])
  return step?.row
}

async function writeJob(tx: Tx | TelemetryTx, { clock }: Services, job: JobRow, changes: Changes): Promise<JobRow> {
  const row = { ...job, ...changes, version: job.version + 1, updated_at: Math.max(clock.now(), job.updated_at) }
  await updateJobProgress(tx, {
    job: row.id,
    state: row.state,
    reason: row.reason,
    stage: row.stage,
    stageTimes: row.stage_times,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    now: row.updated_at,
  })
  return row
}
