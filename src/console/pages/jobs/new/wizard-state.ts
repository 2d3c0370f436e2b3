// The input of the wizard for a new job, whether each step is complete, and the request that it becomes. [contract 12.job]
import { jobActions, waitsForIdleByDefault } from '../../../../contract/jobs/action-table.ts'
import { defaultWithinHours, maxWithinHours } from '../../../../contract/jobs/recurring-jobs.ts'
import { timeOfDayPattern, weekdays } from '../../../../contract/weekly-hours.ts'
import { type ActionInput, actionOf, actionProblem, emptyAction } from '../../../domain/jobs/action/action-forms.ts'
import { type JobDraft, noFailureLimit } from '../../../domain/jobs/job.ts'
import type { RecurringDraft, Schedule } from '../../../domain/jobs/recurring-job.ts'

const timePattern = new RegExp(timeOfDayPattern)

export interface StageInput {
  readonly kind: 'rooms' | 'percent' | 'tags'
  /** Rooms or per cent, earlier stages included. */
  readonly amount: number
  readonly tags: readonly string[]
  readonly manual: boolean
}

/** Empty lists choose nothing. */
export interface TargetInput {
  readonly regionIds: readonly number[]
  readonly locationIds: readonly number[]
  readonly roomIds: readonly number[]
  readonly endpointIds: readonly string[]
  readonly models: readonly string[]
  readonly profileIds: readonly number[]
  readonly firmwareVersions: readonly string[]
  readonly tags: readonly string[]
  /** Only the copy of a run has them. */
  readonly timezones: readonly string[]
}

export interface WizardState extends ActionInput {
  readonly name: string
  readonly isRecurring: boolean
  readonly schedule: Schedule
  readonly withinHours: number
  /** All devices but the excluded ones; the target is ignored. */
  readonly isForAll: boolean
  readonly target: TargetInput
  readonly exclude: TargetInput
  readonly isStaged: boolean
  /** All stages but the last one, which has all rooms. */
  readonly stages: readonly StageInput[]
  readonly isLastManual: boolean
  readonly soakMinutes: number
  readonly failurePercent: number
  readonly failureCount: number
  /** Undefined: the default of the action. */
  readonly onFailure: 'rollBack' | 'pause' | undefined
  readonly window: boolean | undefined
  readonly idle: boolean | undefined
  readonly atOnce: number
  /** Undefined: the default of the service, 5. */
  readonly atOncePerLocation: number | undefined
  readonly skipConflicts: boolean
  readonly includeNew: boolean
  /** The value of a datetime-local field, in the time of the browser; empty: when the job is started. */
  readonly startAt: string
  readonly deadline: string
}

/** The properties that every step of the wizard takes. */
export interface StepProps {
  readonly state: WizardState
  readonly onChange: (changes: Partial<WizardState>) => void
}

export const emptyTarget: TargetInput = {
  regionIds: [],
  locationIds: [],
  roomIds: [],
  endpointIds: [],
  models: [],
  profileIds: [],
  firmwareVersions: [],
  tags: [],
  timezones: [],
}

export const emptyWizard: WizardState = {
  name: '',
  ...emptyAction,
  isRecurring: false,
  schedule: { days: weekdays, at: '03:00' },
  withinHours: defaultWithinHours,
  isForAll: false,
  target: emptyTarget,
  exclude: emptyTarget,
  isStaged: true,
  stages: [
    { kind: 'rooms', amount: 1, tags: [], manual: false },
    { kind: 'percent', amount: 10, tags: [], manual: false },
  ],
  isLastManual: false,
  soakMinutes: 30,
  failurePercent: 5,
  failureCount: 1,
  onFailure: undefined,
  window: undefined,
  idle: undefined,
  atOnce: 50,
  atOncePerLocation: 5,
  skipConflicts: false,
  includeNew: false,
  startAt: '',
  deadline: '',
}

/** Why the job cannot have stages; null if it can. */
export const stagesRefusedText = ({ type }: WizardState): string | null =>
  type ? jobActions[type].stagesRefusedText : null
export const hasStages = (state: WizardState): boolean =>
  !state.isRecurring && state.isStaged && stagesRefusedText(state) === null

/** The defaults of the service. [contract 12.job] */
export const waitsForWindow = (state: WizardState): boolean => state.window ?? hasStages(state)
export function waitsForIdle(state: WizardState): boolean {
  const action = actionOf(state)
  return state.idle ?? (action !== undefined && waitsForIdleByDefault(action, hasStages(state) || state.isRecurring))
}
export const failureStep = ({ type, onFailure }: WizardState): 'rollBack' | 'pause' =>
  type && jobActions[type].rollback?.isAutomatic ? (onFailure ?? 'rollBack') : 'pause'

export const isEmptyTarget = (target: TargetInput): boolean => Object.values(target).every((list) => list.length === 0)

/** Lists that choose nothing are left out. */
const chosenIn = (target: TargetInput) =>
  Object.fromEntries(Object.entries(target).filter(([, list]) => list.length > 0)) as JobDraft['target']

/** Undefined while nothing is chosen. */
export function chosenTarget({ isForAll, target, exclude }: WizardState): JobDraft['target'] | undefined {
  if (!isForAll && isEmptyTarget(target)) return undefined
  return {
    ...(isForAll ? { all: true } : chosenIn(target)),
    ...(!isEmptyTarget(exclude) && { exclude: chosenIn(exclude) }),
  }
}

function stagesOf(state: WizardState): NonNullable<JobDraft['stages']> {
  const last: StageInput = { kind: 'percent', amount: 100, tags: [], manual: state.isLastManual }
  return [...state.stages, last].map(({ kind, amount, tags, manual }, index) => ({
    ...(kind === 'tags' ? { tags: [...tags] } : { [kind]: amount }),
    // The first stage needs no pause before it: the job begins when it is started.
    manual: manual && index > 0,
  }))
}

const isoTime = (local: string): string => new Date(local).toISOString()

/** Returns the request, or undefined while the action or the target is missing. */
export function jobDraftOf(state: WizardState, name: string): JobDraft | undefined {
  const action = actionOf(state)
  const target = chosenTarget(state)
  if (action === undefined || target === undefined) return undefined
  return {
    name,
    target,
    action,
    ...(hasStages(state)
      ? {
          stages: stagesOf(state),
          soakMinutes: state.soakMinutes,
          failures: { percent: state.failurePercent, atLeast: state.failureCount },
          onFailure: failureStep(state),
        }
      : { failures: noFailureLimit }),
    ...paceOf(state),
    ...(!state.isRecurring && {
      includeNew: state.includeNew,
      ...(state.startAt !== '' && { startAt: isoTime(state.startAt) }),
      ...(state.deadline !== '' && { deadline: isoTime(state.deadline) }),
    }),
  }
}

const paceOf = (state: WizardState) => ({
  respect: { window: waitsForWindow(state), idle: waitsForIdle(state) },
  pace: {
    atOnce: state.atOnce,
    ...(state.atOncePerLocation !== undefined && { atOncePerLocation: state.atOncePerLocation }),
  },
  ...(state.type && jobActions[state.type].canConflict && { skipConflicts: state.skipConflicts }),
})

/** Returns the request for a recurring job, or undefined while the action or the target is missing. */
export function recurringDraftOf(state: WizardState, name: string): RecurringDraft | undefined {
  const action = actionOf(state)
  const target = chosenTarget(state)
  if (action === undefined || target === undefined) return undefined
  const { days, at } = state.schedule
  return { name, target, action, schedule: { days: [...days], at }, withinHours: state.withinHours, ...paceOf(state) }
}

export const wizardSteps = ['action', 'target', 'rollout', 'plan'] as const
export type WizardStep = (typeof wizardSteps)[number]

/** Says what a step lacks; undefined if the next step can follow. */
export function stepProblem(state: WizardState, step: WizardStep, now: number): string | undefined {
  if (step === 'action') return actionProblem(state)
  if (step === 'target') return chosenTarget(state) === undefined ? 'Choose at least one group of devices.' : undefined
  return step === 'rollout' ? rolloutProblem(state, now) : undefined
}

function rolloutProblem(state: WizardState, now: number): string | undefined {
  const numbers = [state.soakMinutes, state.failurePercent, state.failureCount, state.atOnce]
  if (!numbers.every((value) => Number.isFinite(value) && value >= 0)) return 'Enter a number in each field.'
  if (state.atOnce < 1 || (state.atOncePerLocation ?? 1) < 1) return 'At least one room at a time is needed.'
  if (hasStages(state)) {
    if (state.stages.some(({ kind, amount }) => kind !== 'tags' && !(amount > 0))) return 'Every stage needs rooms.'
    if (state.stages.some(({ kind, tags }) => kind === 'tags' && tags.length === 0)) return 'Enter a tag.'
    const percents = state.stages.filter(({ kind }) => kind === 'percent').map(({ amount }) => amount)
    if (percents.some((amount, index) => amount >= 100 || amount <= (percents[index - 1] ?? 0)))
      return 'Each stage must have more rooms than the one before, and less than 100 %.'
  }
  if (state.isRecurring) return scheduleProblem(state)
  if (state.startAt !== '' && !(Date.parse(state.startAt) > now)) return 'The start must be in the future.'
  const start = state.startAt === '' ? now : Date.parse(state.startAt)
  if (state.deadline !== '' && !(Date.parse(state.deadline) > start)) return 'The deadline must be after the start.'
  return undefined
}

function scheduleProblem({ schedule: { days, at }, withinHours }: WizardState): string | undefined {
  if (days.length === 0) return 'Choose at least one day.'
  if (!timePattern.test(at)) return 'Enter a time.'
  const isPossible = Number.isInteger(withinHours) && withinHours >= 1 && withinHours <= maxWithinHours
  return isPossible ? undefined : `Enter 1 to ${maxWithinHours} hours.`
}
