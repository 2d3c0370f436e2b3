// The checker of what a follower heard accepts a history without gaps and finds each planted mistake.
import { expect, test } from 'vitest'
import { findMistakes } from '../../support/nodes/check-follower.ts'
import type { Heard } from '../../support/nodes/event-cluster.ts'

const heard = (...steps: (readonly [what: Heard['what'], number: number, entries?: number])[]): Heard[] =>
  steps.map(([what, number, entries = 0]) => ({ what, number, node: 0, entries, reports: new Map() }))

test('the check finds planted mistakes: a gap, a repetition, a wrong order, a missing end', () => {
  const committed = { entries: 4, reports: new Map([[1, 1]]) }
  const report: Heard = { what: 'report', number: 1, node: 1, entries: 0, reports: new Map() }
  const right = heard(['begin', 0, 1], ['entry', 2], ['entry', 3], ['reset', 0, 3], ['entry', 3], ['entry', 4])
  expect(findMistakes([...right, report], committed)).toEqual([])
  const wrong: [Heard[], RegExp][] = [
    [heard(['begin', 0, 0], ['entry', 1], ['entry', 2], ['entry', 4]), /entry 4 follows 2/],
    [heard(['begin', 0, 2], ['entry', 3], ['entry', 3], ['entry', 4]), /entry 3 follows 3/],
    [heard(['begin', 0, 1], ['entry', 2], ['entry', 4], ['entry', 3]), /entry 3 follows 4/],
    [heard(['begin', 0, 1], ['entry', 3], ['entry', 4]), /entry 3 is the first, 2 is missing/],
    [heard(['begin', 0, 1], ['entry', 2], ['entry', 3]), /entry 4 is missing, the last one is 3/],
    [heard(['begin', 0, 1], ['reset', 0, 2], ['entry', 4]), /entry 4 is the first, 3 is missing/],
  ]
  for (const [history, mistake] of wrong) expect(findMistakes([...history, report], committed).join()).toMatch(mistake)
  expect(findMistakes(right, committed)[0]).toMatch(/report of node 1 1 is missing/)
})
