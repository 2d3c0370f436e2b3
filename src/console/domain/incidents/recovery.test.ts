// Tests what an incident says while its devices come back.
import { expect, test } from 'vitest'
import type { ListedIncident } from './incident.ts'
import { recoveryText } from './recovery.ts'

const now = Date.parse('2026-05-04T08:00:00Z')
const at = (secondsAgo: number) => new Date(now - secondsAgo * 1000).toISOString()
const device = (id: string, roomId: number, secondsOnline?: number) => ({
  id,
  roomId,
  connected: secondsOnline !== undefined,
  ...(secondsOnline === undefined ? { since: at(600) } : { since: at(secondsOnline) }),
})
const incident = (changes: object) =>
  ({
    rule: 'device.offline',
    state: 'OPEN',
    cause: { level: 'LOCATION', id: '3', name: 'Oslo' },
    roomIds: [1, 2],
    openSubjectCount: 3,
    ...changes,
  }) as unknown as ListedIncident
const subjects = ['a', 'b', 'c'].map((id) => ({ id }))
const back = [device('a', 1, 30), device('b', 1, 50), device('c', 2, 90)]
const some = [device('a', 1, 30), device('b', 1), device('c', 2)]
const alone = { cause: { level: 'ENDPOINT', id: 'a', name: '' }, roomIds: [1], openSubjectCount: 1 }

test.each([
  ['all are back: the last one counts', { subjects }, back, '3 online again, resolves in 2 min'],
  ['all are back, in a list', {}, back, '3 online again, resolves in 2 min'],
  ['some are back', { subjects }, some, '1 of 3 online again'],
  ['some are back, in a list that cannot tell which', {}, some, undefined],
  ['not all are listed', { subjects, openSubjectCount: 300 }, back, '3 of 300 online again'],
  ['a device whose problem has ended', { subjects: [{ id: 'a', endedAt: at(5) }, { id: 'b' }] }, some, undefined],
  ['one device, beside another that is offline', alone, some, 'Online again, resolves in 2 min'],
  ['an online device of another room', alone, [device('z', 9, 5)], undefined],
  ['a resolved incident', { state: 'RESOLVED', subjects }, back, undefined],
  ['another rule', { rule: 'device.flapping', subjects }, back, undefined],
])('%s', (_, changes, devices, text) => {
  expect(recoveryText(incident(changes), devices, 120_000, now)).toBe(text)
})

test('the time counts down to the last minute', () => {
  expect(recoveryText(incident({ subjects }), [device('a', 1, 119)], 120_000, now)).toBe('1 of 3 online again')
  const late = back.map((one) => ({ ...one, since: at(130) }))
  expect(recoveryText(incident({ subjects }), late, 120_000, now)).toBe('3 online again, resolves in 1 min')
})
