// Tests how plans and the actions of jobs are put into words.
import { expect, test } from 'vitest'
import { actionText } from './action/action-forms.ts'
import type { PlannedUnit } from './job.ts'
import { becauseText, outcomeGroups, presentText, reasonText, waitText } from './job-texts.ts'

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

test('the rooms of a plan are counted by outcome and reason', () => {
  const unit = (outcome: PlannedUnit['outcome'], reason?: string): PlannedUnit => ({
    ...{ roomIds: [1], name: 'Fjord', stage: 1, endpointCount: 1, offlineCount: 0, outcome },
    ...(reason !== undefined && { reason }),
  })
  const units = [unit('skipped', 'a'), unit('waits', 'idle'), unit('now'), unit('waits', 'window'), unit('now')]
  expect(outcomeGroups([...units, unit('waits', 'window')])).toEqual([
    { outcome: 'now', reason: undefined, count: 2 },
    { outcome: 'waits', reason: 'window', count: 2 },
    { outcome: 'waits', reason: 'idle', count: 1 },
    { outcome: 'skipped', reason: 'a', count: 1 },
  ])
})
