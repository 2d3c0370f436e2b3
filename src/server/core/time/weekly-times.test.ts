// Tests the times of recurring jobs over changes of clocks in both directions, against the clocks of Intl. [contract 12.recurring]
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runCount } from '../../../../test/support/long-form.ts'
import { dayMs, hourMs, minuteMs } from '../../../contract/durations.ts'
import { weekdays } from '../../../contract/weekly-hours.ts'
import { nextWeeklyTime, weeklyTimesBetween } from './weekly-times.ts'

const daily = (at: string) => ({ days: [...weekdays], at })
const isoOf = (times: readonly number[]) => times.map((at) => new Date(at).toISOString())
const between = (zone: string, at: string, from: string, to: string) =>
  isoOf(weeklyTimesBetween(daily(at), zone, Date.parse(from), Date.parse(to)))

test('a time that clocks are set forward over is when they are set, and the next day has its own', () => {
  expect(between('Europe/Oslo', '02:30', '2026-03-28T00:00Z', '2026-03-31T00:00Z')).toEqual([
    '2026-03-28T01:30:00.000Z',
    '2026-03-29T01:00:00.000Z',
    '2026-03-30T00:30:00.000Z',
  ])
})

test('a time that comes twice has one run, at its first coming', () => {
  expect(between('Europe/Oslo', '02:30', '2026-10-24T12:00Z', '2026-10-26T12:00Z')).toEqual([
    '2026-10-25T00:30:00.000Z',
    '2026-10-26T01:30:00.000Z',
  ])
  expect(between('America/New_York', '01:30', '2026-10-31T12:00Z', '2026-11-02T12:00Z')).toEqual([
    '2026-11-01T05:30:00.000Z',
    '2026-11-02T06:30:00.000Z',
  ])
})

test('clocks that are set forward over midnight leave no day without its run, and a day that a zone left out has none', () => {
  // 23:00 on 29 March 2025 is 00:00 on 30 March.
  expect(between('America/Scoresbysund', '23:30', '2025-03-29T12:00Z', '2025-03-31T12:00Z')).toEqual([
    '2025-03-30T01:00:00.000Z',
    '2025-03-31T00:30:00.000Z',
  ])
  // Apia had no 30 December 2011.
  expect(between('Pacific/Apia', '03:00', '2011-12-29T00:00Z', '2011-12-31T23:00Z')).toEqual([
    '2011-12-29T13:00:00.000Z',
    '2011-12-30T13:00:00.000Z',
    '2011-12-31T13:00:00.000Z',
  ])
})

test('only the chosen days have a run, by the clocks of the zone', () => {
  const workdays = { days: weekdays.slice(0, 5), at: '23:30' }
  const week = [Date.parse('2026-11-16T00:00Z'), Date.parse('2026-11-23T00:00Z')] as const
  const inTokyo = isoOf(weeklyTimesBetween(workdays, 'Asia/Tokyo', ...week))
  expect(inTokyo).toEqual([16, 17, 18, 19, 20].map((day) => `2026-11-${day}T14:30:00.000Z`))
  const inLosAngeles = isoOf(weeklyTimesBetween(workdays, 'America/Los_Angeles', ...week))
  expect(inLosAngeles).toEqual([17, 18, 19, 20, 21].map((day) => `2026-11-${day}T07:30:00.000Z`))
})

const zones = [
  ...['Africa/Cairo', 'Africa/Casablanca', 'America/Nuuk', 'America/Santiago', 'Antarctica/Troll', 'Asia/Gaza'],
  ...['Australia/Lord_Howe', 'Europe/Dublin', 'Europe/Oslo', 'Pacific/Chatham', 'America/New_York', 'UTC'],
]
const clocks = new Map(
  zones.map((timeZone) => [
    timeZone,
    new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  ]),
)

test('each day of ten years has one run, which the clock shows unless it is set forward over it', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.integer({ min: 0, max: 10 * 365 }),
      fc.integer({ min: 0, max: 4 * 60 }),
      (zone, day, minute) => {
        const at = `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
        const from = Date.UTC(2018, 0, 1) + day * dayMs + 12 * hourMs
        const times = weeklyTimesBetween(daily(at), zone, from, from + 30 * dayMs)
        expect([29, 30, 31]).toContain(times.length)
        const shown = times.filter((time) => clocks.get(zone)?.format(time) === at)
        expect(times.length - shown.length).toBeLessThanOrEqual(1)
        for (const [i, time] of times.entries()) {
          const before = times[i - 1]
          if (before !== undefined) expect(Math.abs(time - before - dayMs)).toBeLessThanOrEqual(2 * hourMs)
          expect(nextWeeklyTime(daily(at), zone, time - minuteMs)).toBe(time)
        }
      },
    ),
    { numRuns: runCount({ short: 300, full: 3_000, long: 3_000 }) },
  )
})
