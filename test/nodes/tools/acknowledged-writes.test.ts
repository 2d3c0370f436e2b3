// The checker of acknowledged writes accepts a right history and finds each planted mistake.
import { expect, test } from 'vitest'
import type { CallOutcome, CallRecord } from '../../support/nodes/trial/call-log.ts'
import { checkAcknowledgedWrites } from '../../support/nodes/trial/checkers/acknowledged-writes.ts'

const write = (requestId: string, outcome: CallOutcome): CallRecord => ({
  requestId,
  node: 'node-1',
  method: 'POST',
  path: '/regions',
  invokedAt: 0,
  endedAt: 1,
  outcome,
  status: undefined,
})
const entry = (seq: number, requestId: string | null, timestamp = seq) => ({ seq, timestamp, requestId })

test('done writes are there once, refused ones are not, unknown ones may be', () => {
  const calls = [write('a', 'done'), write('b', 'refused'), write('c', 'unknown'), write('d', 'unknown')]
  expect(checkAcknowledgedWrites(calls, [entry(1, null), entry(2, 'a'), entry(3, 'c')])).toEqual([])
  const read = { ...write('e', 'done'), method: 'GET' }
  expect(checkAcknowledgedWrites([read], [])).toEqual([])
})

test.each([
  ['a lost write', [write('a', 'done')], [entry(1, null)], /\(a\) was done, and 0 audit/],
  ['a write that was made twice', [write('a', 'done')], [entry(1, 'a'), entry(2, 'a')], /was done, and 2/],
  ['a refused write that was made', [write('a', 'refused')], [entry(1, 'a')], /was refused, and 1/],
  ['an unknown write that was made twice', [write('a', 'unknown')], [entry(1, 'a'), entry(2, 'a')], /unknown, and 2/],
  ['a missing entry', [], [entry(1, null), entry(3, null)], /entry 2 is missing/],
  ['a time that runs backwards', [], [entry(1, null, 5), entry(2, null, 4)], /time of audit entry 2 is before/],
])('%s is found', (_, calls, entries, sentence) => {
  const problems = checkAcknowledgedWrites(calls, entries)
  expect(problems).toHaveLength(1)
  expect(problems[0]).toMatch(sentence)
})
