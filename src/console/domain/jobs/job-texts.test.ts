// Tests how plans and the actions of jobs are put into words.
import { expect, test } from 'vitest'
import { jobActions } from '../../../contract/jobs/action-table.ts'
import { actionText } from './action/action-forms.ts'
import type { Plan } from './job.ts'
import { becauseText, jobReasonText, outcomeTexts, presentText, reasonText, waitText } from './job-texts.ts'

test('the present values of a setting are counted in words', () => {
  expect(
    presentText('nightMode', [
      { value: false, endpointCount: 1021 },
      { value: true, endpointCount: 6 },
      { endpointCount: 3 },
    ]),
  ).toBe('Off on 1,021, On on 6, not set on 3')
  expect(presentText('settingsPassword', [{ value: '***', endpointCount: 2 }])).toBe('password (hidden) on 2')
})

test('the reason of a job says that it stopped', () => {
  expect(jobReasonText('ROLLED_BACK', '3 of 9 rooms failed.')).toBe('Stopped: 3 of 9 rooms failed.')
  expect(jobReasonText('INCOMPLETE', '3 of 120 rooms failed.')).toBe('3 of 120 rooms failed.')
})

test('a wait is a sentence, and a sentence of the service stays as it is', () => {
  expect(reasonText('idle')).toBe('Waits until the room is empty')
  expect(waitText('other job')).toBe('For another job')
  expect(reasonText('other job')).toBe('Waits for another job')
  expect(reasonText('the device refused nightMode')).toBe('The device refused nightMode')
  expect(['idle', 'the profile locks it', undefined].map(becauseText)).toEqual([
    ...[' until the room is empty', ': the profile locks it', ''],
  ])
  // A name that every object inherits is no wait.
  expect(reasonText('toString')).toBe('ToString')
})

test('an action names its settings, its profile or its room', () => {
  expect(actionText({ type: 'CONFIG', config: { nightMode: true, language: null } })).toBe(
    'Night mode: On, Language: not set',
  )
  expect(actionText({ type: 'CONFIG', config: {} })).toBe('Passwords (hidden)')
  expect(actionText({ type: 'ASSIGN_PROFILE', profileId: 4 }, { profileName: 'Quiet rooms' })).toBe(
    'Assign profile Quiet rooms',
  )
  expect(actionText({ type: 'ASSIGN_PROFILE', profileId: null })).toBe('Remove profile')
  expect(actionText({ type: 'MOVE', roomId: 9 })).toBe('Move to room #9')
})

test('a plan says how many rooms or devices change now and later, wait and are skipped', () => {
  type Outcome = Plan['outcomes'][number]
  const of = (outcome: Outcome['outcome'], unitCount: number, reason?: string): Outcome => ({
    ...{ outcome, unitCount, endpointCount: 2 * unitCount },
    ...(reason !== undefined && { reason }),
  })
  const { planned, unchanged } = jobActions.CONFIG.texts
  const words = { planned, unchanged, deviceClause: undefined, isScheduled: false }
  const others = [of('waits', 3, 'idle'), of('skipped', 1, 'the profile locks it'), of('unchanged', 2)]
  expect(outcomeTexts([of('now', 1), of('later', 1067), ...others], words)).toEqual([
    '1 room changes now, 1,067 in later stages',
    '3 rooms wait until the room is empty',
    '1 room is skipped: the profile locks it',
    '2 rooms already have the new values',
  ])
  expect(outcomeTexts([of('now', 20)], words)).toEqual(['20 rooms change now'])
  expect(outcomeTexts([of('later', 20)], words)).toEqual(['20 rooms change in later stages'])
  expect(outcomeTexts([of('now', 20)], { ...words, isRecurring: true })).toEqual(['20 rooms change in each run'])
  expect(outcomeTexts([of('later', 20)], { ...words, isScheduled: true })).toEqual([
    '20 rooms change when the job starts',
  ])
  const move = { ...words, ...jobActions.MOVE.texts, deviceClause: ' to Fjord (Atlanta)' }
  expect(outcomeTexts([of('now', 19)], move)).toEqual(['38 devices move to Fjord (Atlanta)'])
})
