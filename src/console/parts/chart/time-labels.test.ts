// Tests that the labels of a time axis tell times, days and years apart.
import { expect, test } from 'vitest'
import { timeLabels } from './time-labels.ts'

const seconds = (...times: string[]) => times.map((time) => Date.parse(time) / 1000)

test('labels are times within a day, days over weeks, and months over years', () => {
  expect(timeLabels(seconds('2026-05-04T00:00Z', '2026-05-04T06:00Z'), 21_600, 'UTC')).toEqual(['Mon 4', '06:00'])
  const weeks = seconds('2026-05-04T00:00Z', '2026-05-18T00:00Z')
  expect(timeLabels(weeks, 14 * 86_400, 'UTC')).toEqual(['4 May', '18 May'])
  const years = seconds('2024-01-01T00:00Z', '2025-01-01T00:00Z')
  expect(timeLabels(years, 365 * 86_400, 'UTC')).toEqual(['Jan 2024', 'Jan 2025'])
})
