// The sample of a room against a plain recomputation, for any samples.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SampleRow } from '../ingest/store.ts'
import { aggregate } from './aggregate.ts'

const value = (min: number, max: number) => fc.option(fc.integer({ min, max }), { nil: null })
const row: fc.Arbitrary<SampleRow> = fc.record({
  timestamp: fc.integer({ min: 0, max: 4_000_000_000 }),
  co2: value(0, 40_000),
  humidity: value(0, 1000),
  illumination: value(0, 200_000),
  people: value(0, 10_000),
  temp: value(-400, 850),
  voc: value(0, 100_000),
  voc_index: value(0, 500),
  shutter_closed: fc.constantFrom(null, 0, 1),
})
const meansOf = ['co2', 'humidity', 'illumination', 'temp', 'voc', 'voc_index'] as const

test('a room without samples has none', () => {
  expect(aggregate([])).toBeUndefined()
})

test('means are the nearest integers of the sent values, and absent without any [contract 5.2.aggregate]', () => {
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 12 }), (rows) => {
      const room = aggregate(rows) as SampleRow
      for (const column of meansOf) {
        let [sum, count] = [0, 0]
        for (const sample of rows) {
          if (sample[column] === null) continue
          sum += sample[column]
          count++
        }
        const mean = room[column]
        if (count === 0) expect(mean).toBeNull()
        else expect(Math.abs(2 * ((mean as number) * count - sum)), column).toBeLessThanOrEqual(count)
      }
    }),
  )
})

test('people, time and shutter are those of one endpoint, and none has more [contract 5.2.aggregate]', () => {
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 12 }), (rows) => {
      const room = aggregate(rows) as SampleRow
      for (const column of ['people', 'timestamp', 'shutter_closed'] as const) {
        const sent = rows.map((sample) => sample[column]).filter((v) => v !== null)
        if (sent.length === 0) expect(room[column]).toBeNull()
        else expect(sent.toSorted((a, b) => b - a)[0]).toBe(room[column])
      }
    }),
  )
})

test('the order of the endpoints makes no difference', () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 8 }), (rows) => {
      expect(aggregate(rows.toReversed())).toEqual(aggregate(rows))
    }),
  )
})
