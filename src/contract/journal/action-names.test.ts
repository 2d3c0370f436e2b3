// The audit log of the console names an action in the words of its pages, not of the API.
import { expect, test } from 'vitest'
import { actionName } from './action-names.ts'
import { auditTypes } from './other-changes.ts'

test('no action of the API is shown under a word that the pages of the console do not use', () => {
  const types = auditTypes()
  expect(types.length).toBeGreaterThan(40)
  const names = types.map(actionName)
  expect(
    names.filter((name) => /\b(?:user|config|reboot|identity|login|org|woken|replayed|rolled)\b/i.test(name)),
  ).toEqual([])
  expect(actionName('DEVICE_REBOOT_REQUESTED')).toBe('Device restart requested')
  expect(actionName('ROOM_NOTE_CREATED')).toBe('Room note created')
})
