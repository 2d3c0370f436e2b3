// Tests days and working hours in time zones, also when clocks change.
import { expect, test } from 'vitest'
import { timeOfWallClock, wallClockMs, workingHoursIn, zonedDays } from './zoned-time.ts'

const at = (text: string) => Date.parse(text)
const iso = (ms: number) => new Date(ms).toISOString()

test('a clock shows what it shows, in winter and in summer', () => {
  expect(iso(wallClockMs(at('2026-01-15T12:00:00Z'), 'Europe/Oslo'))).toBe('2026-01-15T13:00:00.000Z')
  expect(iso(wallClockMs(at('2026-07-15T12:00:00Z'), 'Europe/Oslo'))).toBe('2026-07-15T14:00:00.000Z')
  expect(iso(timeOfWallClock(at('2026-07-15T14:00:00Z'), 'Europe/Oslo'))).toBe('2026-07-15T12:00:00.000Z')
})

test('the days of a window begin at midnight of the zone, also when one has 23 or 25 hours', () => {
  const starts = (from: string, to: string) =>
    zonedDays(at(from), at(to), 'Europe/Oslo').map(({ startMs }) => iso(startMs))
  expect(starts('2026-03-28T12:00:00Z', '2026-03-30T12:00:00Z')).toEqual([
    '2026-03-27T23:00:00.000Z',
    '2026-03-28T23:00:00.000Z',
    '2026-03-29T22:00:00.000Z',
  ])
  expect(starts('2026-10-24T22:00:00Z', '2026-10-26T00:00:00Z')).toEqual([
    '2026-10-24T22:00:00.000Z',
    '2026-10-25T23:00:00.000Z',
  ])
})

test('working hours are Monday to Friday, in the zone', () => {
  const hours = workingHoursIn(at('2026-03-27T00:00:00Z'), at('2026-03-30T20:00:00Z'), 'America/New_York')
  expect(hours.map(({ fromMs, toMs }) => [iso(fromMs), iso(toMs)])).toEqual([
    ['2026-03-26T12:00:00.000Z', '2026-03-26T22:00:00.000Z'],
    ['2026-03-27T12:00:00.000Z', '2026-03-27T22:00:00.000Z'],
    ['2026-03-30T12:00:00.000Z', '2026-03-30T22:00:00.000Z'],
  ])
})
