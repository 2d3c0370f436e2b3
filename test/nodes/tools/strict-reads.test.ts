// The checker of reads accepts what some order of the writes explains and finds each planted mistake.
import { expect, test } from 'vitest'
import { checkStrictReads } from '../../support/nodes/trial/checkers/strict-reads.ts'
import type { RegisterRead, RegisterWrite } from '../../support/nodes/trial/histories.ts'

const register = 'room 1'
const write = (
  value: string,
  version: number | undefined,
  [invokedAt, endedAt]: readonly [number, number],
  outcome: RegisterWrite['outcome'] = 'done',
): RegisterWrite => ({ register, value, version, invokedAt, endedAt, outcome })
const read = (
  value: string,
  version: number | undefined,
  [invokedAt, endedAt]: readonly [number, number],
): RegisterRead => ({ register, value, version, node: 'node-2', invokedAt, endedAt })

const [one, two] = [write('one', 1, [0, 10]), write('two', 2, [20, 30])]
const unknown = write('three', undefined, [40, Number.POSITIVE_INFINITY], 'unknown')

test.each([
  [
    'a read before, during and after a write',
    [one, two],
    [read('one', 1, [11, 12]), read('one', 1, [21, 29]), read('two', 2, [22, 29]), read('two', 2, [31, 32])],
  ],
  ['a read without a version', [one, two], [read('two', undefined, [31, 32])]],
  [
    'a write of unknown outcome that is seen',
    [one, two, unknown],
    [read('two', 2, [41, 42]), read('three', 3, [43, 44])],
  ],
  ['a write of unknown outcome that is not seen', [one, two, unknown], [read('two', 2, [60, 61])]],
  ['an unknown value of which no version is known', [one, two, unknown], [read('three', undefined, [50, 51])]],
  ['two registers', [one, { ...two, register: 'room 2' }], [read('one', 1, [40, 41])]],
])('%s is accepted', (_, writes, reads) => {
  expect(checkStrictReads(writes, reads)).toEqual([])
})

test.each([
  [
    'a stale read',
    [one, two],
    [read('one', 1, [31, 32])],
    /began at 31 ms gave one \(version 1\), but version 2 was known/,
  ],
  ['a stale read without a version', [one, two], [read('one', undefined, [31, 32])], /gave one \(version 1\)/],
  [
    'a read that goes back behind another read',
    [one, two],
    [read('two', 2, [21, 22]), read('one', 1, [23, 24])],
    /by a read of two/,
  ],
  [
    'an unknown write that is seen and then gone',
    [one, unknown],
    [read('three', 3, [41, 42]), read('one', 1, [43, 44])],
    /by a read of three/,
  ],
  [
    'a refused write that is seen',
    [one, write('two', undefined, [20, 30], 'refused')],
    [read('two', 2, [31, 32])],
    /which was refused/,
  ],
  ['a read from the future', [one, two], [read('two', undefined, [11, 12])], /written only at 20 ms/],
  ['two values with one version', [one, two], [read('other', 2, [31, 32])], /Version 2 of room 1 is two/],
  ['a write that got an old version', [one, write('two', 1, [20, 30])], [], /got version 1, but version 1 was known/],
])('%s is found', (_, writes, reads, sentence) => {
  expect(checkStrictReads(writes, reads).join('\n')).toMatch(sentence)
})
