// The checkers of answers accept equal ones in time and find each planted mistake.
import { describe, expect, test } from 'vitest'
import { type CallRecord, outcomeOf } from '../../support/nodes/trial/call-log.ts'
import { checkAnswerTimes } from '../../support/nodes/trial/checkers/answer-times.ts'
import { checkEqualAnswers, type NodeAnswer } from '../../support/nodes/trial/checkers/equal-answers.ts'

const answer = (node: string, other: Partial<NodeAnswer> = {}): NodeAnswer => ({
  node,
  path: '/rooms',
  status: 200,
  etag: '"1"',
  text: '{}',
  ...other,
})

describe('equal answers', () => {
  test('the same bytes at all nodes are accepted, path by path', () => {
    const answers = [
      answer('a'),
      answer('b'),
      answer('a', { path: '/x', text: '1' }),
      answer('b', { path: '/x', text: '1' }),
    ]
    expect(checkEqualAnswers(answers)).toEqual([])
  })

  test.each([
    ['other bytes', [answer('a'), answer('b', { text: '{"a":1}' })], /b says 200 "1" \{"a":1\}/],
    ['another version', [answer('a'), answer('b', { etag: '"2"' })], /b says 200 "2"/],
    ['an error at one node', [answer('a'), answer('b', { status: 503 })], /b says 503/],
    ['an error at all nodes', [answer('a', { status: 503 }), answer('b', { status: 503 })], /is 503, not 200/],
  ])('%s is found', (_, answers, sentence) => {
    expect(checkEqualAnswers(answers)).toEqual([expect.stringMatching(sentence)])
  })
})

describe('answers in time', () => {
  const call = (endedAt: number, status: number | undefined): CallRecord => ({
    requestId: 'a',
    node: 'node-1',
    method: 'GET',
    path: '/rooms',
    invokedAt: 0,
    endedAt,
    outcome: 'done',
    status,
  })
  const fault = (kind: 'kill' | 'swallowDatabase', node: string) => ({ kind, node, from: 5, to: 10 })

  test('an answer in time, and none from a node that was killed, are accepted', () => {
    expect(checkAnswerTimes([call(100, 200), call(100, 503)], [])).toEqual([])
    expect(checkAnswerTimes([call(100, undefined)], [fault('kill', 'node-1')])).toEqual([])
  })

  test.each([
    ['a late answer', [call(12_500, 200)], [], /was answered after 12500 ms/],
    ['a missing answer', [call(100, undefined)], [], /got no answer after 100 ms/],
    ['no answer while another node was killed', [call(100, undefined)], [fault('kill', 'node-2')], /got no answer/],
    ['no answer because of the database', [call(13_000, undefined)], [fault('swallowDatabase', 'node-1')], /no answer/],
  ])('%s is found', (_, calls, faults, sentence) => {
    expect(checkAnswerTimes(calls, faults)).toEqual([expect.stringMatching(sentence)])
  })
})

test('a 503 is a refusal only if it has Retry-After', () => {
  expect([outcomeOf(200, false), outcomeOf(409, false), outcomeOf(503, true)]).toEqual(['done', 'refused', 'refused'])
  expect([outcomeOf(503, false), outcomeOf(500, true)]).toEqual(['unknown', 'unknown'])
})
