// Tests the request that the wizard makes, and what each step asks for.
import { expect, test } from 'vitest'
import { type JobActionType, jobActionTypes } from '../../../../contract/jobs/action-table.ts'
import type { JobDetails } from '../../../domain/jobs/job.ts'
import type { RecurringJob } from '../../../domain/jobs/recurring-job.ts'
import { wizardOfJob, wizardOfRecurringJob } from './wizard-copy.ts'
import {
  emptyTarget,
  emptyWizard,
  jobDraftOf,
  recurringDraftOf,
  stepProblem,
  type WizardState,
} from './wizard-state.ts'

const now = Date.parse('2026-05-04T08:00:00.000Z')
const config: WizardState = {
  ...emptyWizard,
  type: 'CONFIG',
  config: { nightMode: true },
  target: { ...emptyWizard.target, regionIds: [11], tags: ['huddle'] },
}

test('settings in stages become a request that says everything the page showed', () => {
  expect(jobDraftOf(config, 'Night mode')).toEqual({
    name: 'Night mode',
    target: { regionIds: [11], tags: ['huddle'] },
    action: { type: 'CONFIG', config: { nightMode: true } },
    stages: [
      { rooms: 1, manual: false },
      { percent: 10, manual: false },
      { percent: 100, manual: false },
    ],
    soakMinutes: 30,
    failures: { percent: 5, atLeast: 1 },
    onFailure: 'rollBack',
    respect: { window: true, idle: false },
    pace: { atOnce: 50, atOncePerLocation: 5 },
    skipConflicts: false,
    includeNew: false,
  })
})

test('a restart waits for empty rooms and is never undone; a move has no stages', () => {
  expect(jobDraftOf({ ...config, type: 'REBOOT', onFailure: 'rollBack' }, 'x')).toMatchObject({
    onFailure: 'pause',
    respect: { window: true, idle: true },
  })
  const move = jobDraftOf({ ...config, type: 'MOVE', roomId: 4 }, 'x')
  expect(move?.stages).toBeUndefined()
  expect(move?.onFailure).toBeUndefined()
  expect(move?.failures, 'no failure stops it').toEqual({ percent: 100 })
  expect(move?.respect).toEqual({ window: false, idle: false })
})

test('in stages every action but new settings waits for empty rooms, and none does without stages', () => {
  const idleOf = (type: JobActionType, isStaged: boolean) =>
    jobDraftOf({ ...config, type, isStaged, profileId: 4, message: 'x', roomId: 4 }, 'x')?.respect?.idle
  expect(jobActionTypes.filter((type) => idleOf(type, true))).toEqual([
    ...['ASSIGN_PROFILE', 'REBOOT', 'MESSAGE', 'COLLECT_LOGS'],
  ])
  expect(jobActionTypes.filter((type) => idleOf(type, false))).toEqual([])
})

test('a stage by tag has only its tags, and the first stage has no pause before it', () => {
  const stages = [
    { kind: 'tags' as const, amount: 1, tags: ['canary'], manual: true },
    { kind: 'percent' as const, amount: 50, tags: [], manual: true },
  ]
  expect(jobDraftOf({ ...config, stages, isLastManual: true }, 'x')?.stages).toEqual([
    { tags: ['canary'], manual: false },
    { percent: 50, manual: true },
    { percent: 100, manual: true },
  ])
})

test('excluded rooms and times are sent only if they were entered', () => {
  const state = { ...config, exclude: { ...emptyWizard.exclude, roomIds: [9] }, startAt: '2026-05-05T20:00' }
  const draft = jobDraftOf(state, 'x')
  expect(draft?.target.exclude).toEqual({ roomIds: [9] })
  expect(draft?.startAt).toBe(new Date('2026-05-05T20:00').toISOString())
  expect(draft?.deadline).toBeUndefined()
})

test('each step says what it lacks', () => {
  expect(stepProblem(emptyWizard, 'action', now)).toBe('Choose what the job does.')
  expect(stepProblem({ ...config, config: {} }, 'action', now)).toBe('Set at least one setting.')
  expect(stepProblem({ ...config, config: { brightness: 7 } }, 'action', now)).toBe('Correct the marked settings.')
  expect(stepProblem({ ...emptyWizard, type: 'MESSAGE', message: ' ' }, 'action', now)).toBe('Enter a message.')
  expect(stepProblem(emptyWizard, 'target', now)).toBe('Choose at least one group of devices.')
  const percent = (amount: number) => ({ kind: 'percent' as const, amount, tags: [], manual: false })
  expect(stepProblem({ ...config, stages: [percent(20), percent(10)] }, 'rollout', now)).toMatch(/more rooms/)
  expect(stepProblem({ ...config, stages: [percent(100)] }, 'rollout', now)).toMatch(/less than 100/)
  expect(stepProblem({ ...config, startAt: '2026-05-03T20:00' }, 'rollout', now)).toBe(
    'The start must be in the future.',
  )
  for (const step of ['action', 'target', 'rollout', 'plan'] as const)
    expect(stepProblem(config, step, now)).toBeUndefined()
})

test('a recurring job has a schedule, no stages and no times, and waits for empty rooms as a job in stages does', () => {
  const state: WizardState = {
    ...emptyWizard,
    ...{ type: 'REBOOT', isRecurring: true, isForAll: true, withinHours: 2, startAt: '2026-05-05T20:00' },
    schedule: { days: ['mon', 'fri'], at: '20:00' },
  }
  const request = {
    ...{ name: 'x', target: { all: true }, action: { type: 'REBOOT' } },
    ...{ respect: { window: false, idle: true }, pace: { atOnce: 50, atOncePerLocation: 5 } },
  }
  expect(recurringDraftOf(state, 'x')).toEqual({ ...request, schedule: state.schedule, withinHours: 2 })
  expect(jobDraftOf(state, 'x')).toEqual({ ...request, failures: { percent: 100 } })
  expect(recurringDraftOf({ ...state, isForAll: false }, 'x')).toBeUndefined()
  const problem = (changes: Partial<WizardState>) => stepProblem({ ...state, ...changes }, 'rollout', now)
  expect(problem({})).toBeUndefined()
  expect(problem({ schedule: { days: [], at: '20:00' } })).toBe('Choose at least one day.')
  expect(problem({ schedule: { days: ['mon'], at: '' } })).toBe('Enter a time.')
  expect(problem({ withinHours: 169 })).toBe('Enter 1 to 168 hours.')
})

const facts = {
  ...{
    id: '31',
    state: 'SUCCEEDED',
    createdAt: '',
    startedBy: { type: 'USER', id: '4', name: 'Ada' },
    attempt: 1,
    stage: 1,
  },
  ...{ stageCount: 3, unitCount: 3, endpointCount: 3, counts: {}, failedCount: 0, canRollBack: false, waiting: {} },
}

test('the copy of a job asks for the same again, without its times', () => {
  const requests: WizardState[] = [
    { ...config, startAt: '2026-05-05T20:00', includeNew: true, onFailure: 'pause', failurePercent: 12 },
    {
      ...config,
      isStaged: false,
      isForAll: true,
      target: emptyTarget,
      exclude: { ...emptyTarget, endpointIds: ['a'] },
    },
    { ...emptyWizard, type: 'MOVE', roomId: 4, target: { ...emptyTarget, timezones: ['Europe/Oslo'] } },
    {
      ...{ ...config, isLastManual: true, soakMinutes: 5, atOncePerLocation: undefined, skipConflicts: true },
      stages: [{ kind: 'tags', amount: 0, tags: ['canary'], manual: false }],
    },
  ]
  for (const state of requests) {
    const { startAt, ...draft } = jobDraftOf(state, 'Night mode') ?? {}
    const copy = wizardOfJob({ ...facts, ...draft } as unknown as JobDetails)
    expect(jobDraftOf(copy, copy.name)).toEqual(draft)
  }
})

test('a recurring job is edited as it is', () => {
  const schedule = { days: ['mon' as const], at: '20:00' }
  const state: WizardState = { ...emptyWizard, type: 'POWER', on: false, isRecurring: true, isForAll: true, schedule }
  const draft = recurringDraftOf(state, 'Displays off')
  expect(
    recurringDraftOf(wizardOfRecurringJob({ ...facts, ...draft } as unknown as RecurringJob), 'Displays off'),
  ).toEqual(draft)
})
