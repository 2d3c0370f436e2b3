// Tests the list of all incidents, which is made of two lists.
import { expect, test } from 'vitest'
import { endedAndOpen } from './incident-rows.ts'

test('an incident that has just ended has one row, as it ended', () => {
  const ended = [
    { id: 'a', state: 'RESOLVED' },
    { id: 'b', state: 'RESOLVED' },
  ]
  const open = [
    { id: 'b', state: 'OPEN' },
    { id: 'c', state: 'OPEN' },
  ]
  const all = endedAndOpen(ended, open).map(({ id, state }) => `${id} ${state}`)
  expect(all.toSorted()).toEqual(['a RESOLVED', 'b RESOLVED', 'c OPEN'])
})
