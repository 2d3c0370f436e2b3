// The checker of followed events accepts a stream without gaps and finds each planted mistake.
import { expect, test } from 'vitest'
import { checkFollowedEvents } from '../../support/nodes/trial/checkers/followed-events.ts'
import type { FollowedItem } from '../../support/nodes/trial/histories.ts'

const items = (...list: (number | 'reset')[]): FollowedItem[] =>
  list.map((entry) =>
    entry === 'reset' ? { kind: 'reset', node: 'node-1', at: 0 } : { kind: 'structure', entry, node: 'node-1', at: 0 },
  )
const range = { firstEntry: 3, lastEntry: 6, maxResets: 1 }

test.each([
  ['every entry once', items(4, 5, 6)],
  ['a reset instead of entries', items(4, 'reset', 6)],
  ['a reset after which entries come again', items(4, 5, 'reset', 5, 6)],
  ['a reset at the end', items(4, 'reset')],
])('%s is accepted', (_, followed) => {
  expect(checkFollowedEvents(followed, range)).toEqual([])
})

test.each([
  ['a gap', items(4, 6), /Entries 5 to 5 are missing/],
  ['a gap at the start', items(5, 6), /Entries 4 to 4 are missing/],
  ['a gap at the end', items(4, 5), /The last entry is 6, but the follower got 5/],
  ['a repetition', items(4, 5, 5, 6), /Entry 5 came at node-1 after entry 5/],
  ['a wrong order after a reset', items('reset', 5, 4, 5, 6), /Entry 4 came at node-1 after entry 5/],
  ['too many resets', items('reset', 'reset', 6), /2 resets, but there were 1/],
])('%s is found', (_, followed, sentence) => {
  const problems = checkFollowedEvents(followed, range)
  expect(problems).toHaveLength(1)
  expect(problems[0]).toMatch(sentence)
})
