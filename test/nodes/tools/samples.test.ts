// The checkers of samples and rollups accept what devices sent and find each planted mistake.
import { describe, expect, test } from 'vitest'
import { checkRollups, checkSamples, type StoredQuarter } from '../../support/nodes/trial/checkers/samples.ts'

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
  const first: StoredQuarter = { endpointId: 'device', slot: 1, count: 2, min: 400, max: 500, sum: 900 }
  const second: StoredQuarter = { endpointId: 'device', slot: 2, count: 1, min: 700, max: 700, sum: 700 }

  test('they are equal to recomputed ones; those that are due may be missing or old', () => {
    expect(checkRollups(samples, [first, second])).toEqual([])
    expect(checkRollups(samples, [{ ...first, count: 1 }], new Set(['device 1', 'device 2']))).toEqual([])
  })

  test.each([
    ['a missing rollup', [first], /device 2 has 1 samples and no rollup/],
    ['a rollup that lacks a sample', [{ ...first, count: 1, sum: 400, max: 400 }, second], /device 1 is .*"count":1/],
    ['a rollup without samples', [first, second, { ...second, slot: 3 }], /device 3 has a rollup and no samples/],
    ['two rollups of a quarter', [first, second, second], /two rollups/],
  ])('%s is found', (_, quarters, sentence) => {
    const problems = checkRollups(samples, quarters)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(sentence)
  })
})
