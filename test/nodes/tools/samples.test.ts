// The checkers of samples and rollups accept what devices sent and find each planted mistake.
import { describe, expect, test } from 'vitest'
import { checkRollups, checkSamples, type StoredRollup } from '../../support/nodes/trial/checkers/samples.ts'

const sent = (timestamp: number, isAcknowledged = true, co2 = 400) => ({
  endpointId: 'device',
  timestamp,
  co2,
  acknowledgedAt: isAcknowledged ? 1 : undefined,
})
const stored = (timestamp: number, co2 = 400) => ({ endpointId: 'device', timestamp, co2 })

describe('samples', () => {
  test('all acknowledged ones are stored; the others may be', () => {
    expect(checkSamples([sent(60), sent(120, false), sent(180, false)], [stored(60), stored(120)])).toEqual([])
  })

  test.each([
    ['a lost sample', [sent(60)], [], /acknowledged, but is not stored/],
    ['a doubled sample', [sent(60)], [stored(60), stored(60)], /stored 2 times/],
    ['another value', [sent(60)], [stored(60, 500)], /stored as 500, but was sent as 400/],
    ['a sample from nowhere', [], [stored(60)], /no device sent it/],
  ])('%s is found', (_, all, rows, sentence) => {
    const problems = checkSamples(all, rows)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(sentence)
  })
})

describe('rollups', () => {
  const samples = [stored(900, 400), stored(960, 500), stored(1800, 700)]
  const first: StoredRollup = { endpointId: 'device', slot: 1, count: 2, min: 400, max: 500, sum: 900 }
  const second: StoredRollup = { endpointId: 'device', slot: 2, count: 1, min: 700, max: 700, sum: 700 }

  const whole: StoredRollup = { endpointId: 'device', slot: 0, count: 3, min: 400, max: 700, sum: 1600 }

  test('they are equal to recomputed ones; those that are due may be missing or old', () => {
    expect(checkRollups('quarter', samples, [first, second])).toEqual([])
    expect(checkRollups('hour', samples, [whole])).toEqual([])
    expect(checkRollups('day', samples, [whole])).toEqual([])
    const due = [1, 2].map((slot) => ({ endpointId: 'device', slot }))
    expect(checkRollups('quarter', samples, [{ ...first, count: 1 }], due)).toEqual([])
    expect(checkRollups('hour', samples, [{ ...whole, count: 1 }], due.slice(0, 1))).toEqual([])
  })

  test.each([
    ['a missing rollup', [first], /device 2 has 1 samples and no rollup/],
    ['a rollup that lacks a sample', [{ ...first, count: 1, sum: 400, max: 400 }, second], /device 1 is .*"count":1/],
    ['a rollup without samples', [first, second, { ...second, slot: 3 }], /device 3 has a rollup and no samples/],
    ['two rollups of a quarter', [first, second, second], /two rollups/],
  ])('%s is found', (_, quarters, sentence) => {
    const problems = checkRollups('quarter', samples, quarters)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(sentence)
  })

  test.each([
    [
      'hour',
      'that lacks a quarter',
      [{ ...whole, count: 2, max: 500, sum: 900 }],
      /rollup of hour device 0 .*"count":2/,
    ],
    ['day', 'that counts a sample twice', [{ ...whole, count: 4, sum: 2300 }], /rollup of day device 0 .*"count":4/],
    ['day', 'that is missing', [], /The day device 0 has 3 samples and no rollup/],
    ['hour', 'without samples', [whole, { ...whole, slot: 1 }], /The hour device 1 has a rollup and no samples/],
  ] as const)('a rollup of a %s %s is found', (period, _, rollups, sentence) => {
    const problems = checkRollups(period, samples, rollups)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(sentence)
  })
})
