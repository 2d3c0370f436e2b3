// Tests sums by hour of the week, and the query of what is behind an hour.

import { expect, test } from 'vitest'
import type { UseRow } from '../../../contract/reports/use.ts'
import { hourQuery, hourTitle, hourUse, measuredHours, parseHour, sumWeeks } from './week-use.ts'

const rowOf = (hours: Readonly<Record<number, readonly [measured: number, used: number]>>): UseRow =>
  ({
    week: {
      measured: Array.from({ length: 168 }, (_, at) => hours[at]?.[0] ?? 0),
      used: Array.from({ length: 168 }, (_, at) => hours[at]?.[1] ?? 0),
    },
  }) as UseRow

test('the use of several rooms is that of all of their measured quarters, and absent where nothing was measured', () => {
  const sum = sumWeeks([rowOf({ 9: [4, 4], 33: [4, 0] }), rowOf({ 9: [12, 0] }), {} as UseRow])
  expect(hourUse(sum, 9)).toBe(0.25)
  expect(hourUse(sum, 33)).toBe(0)
  expect(hourUse(sum, 10)).toBeUndefined()
})

test('a table has the days with values, and all hours from the first to the last', () => {
  const { week } = rowOf({ 9: [4, 1], 60: [4, 1] })
  expect(measuredHours(week ? [week] : [])).toEqual({ days: [0, 2], hours: [9, 10, 11, 12] })
  expect(measuredHours([])).toEqual({ days: [], hours: [] })
})

test('an hour of the week is a title and the query of its quarters', () => {
  expect(hourTitle(33)).toBe('Tuesdays, 09:00 to 10:00')
  expect(hourQuery(33)).toEqual({ days: 'tue', hours: '09:00-10:00' })
  expect(hourQuery(167)).toEqual({ days: 'sun', hours: '23:00-24:00' })
  expect(['0', '167', '168', '-1', 'x', undefined].map(parseHour)).toEqual([0, 167, ...Array(4).fill(undefined)])
})
