// Tests that the answer for one endpoint and the text of a bulk answer are the same JSON.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SampleRow } from './ingest/store.ts'
import { sensorDataText, sensorDataView } from './view.ts'

const value = fc.option(fc.integer({ min: -1_000_000, max: 1_000_000 }))
const row: fc.Arbitrary<SampleRow> = fc.record({
  timestamp: fc.integer({ min: 0, max: 4_000_000_000 }),
  co2: value,
  humidity: value,
  illumination: value,
  people: value,
  temp: value,
  voc: value,
  voc_index: value,
  shutter_closed: fc.constantFrom(0, 1),
})

test('a sample has the same bytes in a bulk answer and alone, also under the legacy base [contract 5.2]', () => {
  fc.assert(
    fc.property(row, fc.boolean(), fc.constantFrom(undefined, 'PRESENCE' as const), (sample, legacy, peopleIs) => {
      const view = sensorDataView(sample, legacy, peopleIs)
      expect(JSON.stringify(view)).toBe(sensorDataText(sample, legacy, peopleIs))
      expect('measured' in view).toBe(!legacy)
    }),
  )
})
