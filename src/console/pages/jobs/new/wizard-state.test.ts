// Tests the request that the wizard makes, and what each step asks for.
import { expect, test } from 'vitest'
import { type JobActionType, jobActionTypes } from '../../../../contract/jobs/action-table.ts'
import { emptyWizard, jobDraftOf, stepProblem, type WizardState } from './wizard-state.ts'

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
