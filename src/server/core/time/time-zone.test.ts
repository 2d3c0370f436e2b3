// Calendar days of time zones, against a plain and slow computation with Intl.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runCount } from '../../../../test/support/long-form.ts'
import { daySeconds } from '../../../contract/durations.ts'
import { isTimeZone } from '../../../contract/time.ts'
import { dateOf, dayOf, isIntlTimeZone, isSameTimeZone, localTimeOf, startOfDay, timeZoneProblem } from './time-zone.ts'

const quarterSeconds = 900

const formats = new Map<string, Intl.DateTimeFormat>()
/** The local date as Intl writes it, counted in days. */
function slowDayOf(zone: string, seconds: number): number {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en-US', { timeZone: zone, year: 'numeric', month: 'numeric', day: 'numeric' })
  formats.set(zone, format)
  const [month = 0, date = 0, year = 0] = format
    .format(seconds * 1000)
    .split('/')
    .map(Number)
  return Date.UTC(year, month - 1, date) / 1000 / daySeconds
}

/** Tries one quarter of an hour after the other. */
function slowStartOfDay(zone: string, number: number): number {
  let at = (number - 1) * daySeconds
  while (slowDayOf(zone, at) < number) at += quarterSeconds
  return at
}

const secondsOf = (iso: string) => Date.parse(iso) / 1000
const numberOf = (date: string) => secondsOf(date) / daySeconds
const hoursOf = (zone: string, date: string) =>
  (startOfDay(zone, numberOf(date) + 1) - startOfDay(zone, numberOf(date))) / 3600

const odd = [
  'Africa/Cairo',
  'Africa/Casablanca',
  'America/Asuncion',
  'America/Havana',
  'America/Nuuk',
  'America/Sao_Paulo',
  'America/Scoresbysund',
  'Antarctica/Casey',
  'Antarctica/Troll',
  'Asia/Amman',
  'Asia/Beirut',
  'Asia/Gaza',
  'Asia/Kathmandu',
  'Asia/Pyongyang',
  'Asia/Tehran',
  'Atlantic/Azores',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Chatham',
  'Pacific/Kiritimati',
]
const places = Intl.supportedValuesOf('timeZone')
const zones = fc.oneof(fc.constantFrom(...odd), fc.constantFrom('UTC', '+05:45', '-09:30', ...places))
const years = fc.integer({ min: 2015, max: 2040 })

test('every day of a year begins with a quarter of an hour, where the local date that Intl writes becomes that of the day', () => {
  fc.assert(
    fc.property(zones, years, (zone, year) => {
      const end = numberOf(`${year + 1}-01-01`)
      for (let number = numberOf(`${year}-01-01`); number < end; number++) {
        const start = startOfDay(zone, number)
        const around = [start % quarterSeconds, slowDayOf(zone, start - 1), slowDayOf(zone, start)]
        if (around.join() !== [0, number - 1, number].join()) expect.fail(`${zone}, ${dateOf(number)}: ${start}`)
      }
    }),
    { numRuns: runCount({ short: 100, full: 500, long: 500 }) },
  )
})

test('startOfDay is what trying one quarter of an hour after the other finds', () => {
  fc.assert(
    fc.property(zones, years, fc.nat({ max: 364 }), (zone, year, dayOfYear) => {
      const number = numberOf(`${year}-01-01`) + dayOfYear
      expect(startOfDay(zone, number)).toBe(slowStartOfDay(zone, number))
    }),
    { numRuns: runCount({ short: 100, full: 500, long: 500 }) },
  )
})

test('dayOf is the local date that Intl writes', () => {
  const within = fc.array(fc.nat({ max: 365 * daySeconds }), { minLength: 50, maxLength: 50 })
  fc.assert(
    fc.property(zones, years, within, (zone, year, offsets) => {
      const seconds = offsets.map((offset) => secondsOf(`${year}-01-01`) + offset)
      expect(seconds.map((at) => dayOf(zone, at))).toEqual(seconds.map((at) => slowDayOf(zone, at)))
    }),
    { numRuns: runCount({ short: 60, full: 200, long: 200 }) },
  )
})

test.each([
  ['Europe/Oslo', '2026-03-29', 23],
  ['Europe/Oslo', '2026-10-25', 25],
  ['Europe/Oslo', '2026-06-01', 24],
  ['America/New_York', '2026-03-08', 23],
  ['America/New_York', '2026-11-01', 25],
  ['Australia/Lord_Howe', '2026-04-05', 24.5],
  ['Australia/Lord_Howe', '2026-10-04', 23.5],
  ['Asia/Kathmandu', '2026-03-29', 24],
  ['Asia/Pyongyang', '2018-05-04', 23.5],
  ['UTC', '2026-03-29', 24],
])('in %s the day %s has %d hours', (zone, date, hours) => {
  expect(hoursOf(zone, date)).toBe(hours)
})

test.each([
  ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00Z', 23],
  ['Asia/Beirut', '2026-03-29', '2026-03-28T22:00:00Z', 23],
  ['America/Havana', '2026-03-08', '2026-03-08T05:00:00Z', 23],
  ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00Z', 23],
])('in %s the day %s has no midnight, and begins when the clocks are set', (zone, date, start, hours) => {
  expect(startOfDay(zone, numberOf(date))).toBe(secondsOf(start))
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' })
  expect(clock.format(secondsOf(start) * 1000)).toBe('01:00')
  expect(hoursOf(zone, date)).toBe(hours)
})

test('a day that a zone left out is empty', () => {
  expect(hoursOf('Pacific/Apia', '2011-12-29')).toBe(24)
  expect(hoursOf('Pacific/Apia', '2011-12-30')).toBe(0)
  expect(hoursOf('Pacific/Apia', '2011-12-31')).toBe(24)
  expect(dateOf(dayOf('Pacific/Apia', secondsOf('2011-12-30T09:59:59Z')))).toBe('2011-12-29')
  expect(dateOf(dayOf('Pacific/Apia', secondsOf('2011-12-30T10:00:00Z')))).toBe('2011-12-31')
})

test('dateOf writes the day as a date', () => {
  expect([-1, 0, 20_541].map(dateOf)).toEqual(['1969-12-31', '1970-01-01', '2026-03-29'])
})

test('a zone is what Intl accepts, as far as its days begin with a quarter of an hour', () => {
  for (const zone of [
    'UTC',
    'Europe/Oslo',
    'europe/oslo',
    'US/Pacific',
    'Asia/Kolkata',
    '+05:30',
    '-0345',
    '+14',
    ...places,
  ])
    expect([zone, isTimeZone(zone), timeZoneProblem(zone)]).toEqual([zone, true, undefined])
  for (const text of ['', ' ', 'Europe/Olso', 'Mars/Olympus', 'GMT+1', '+25:00', 'Africa/Istanbul']) {
    expect([text, isTimeZone(text), isIntlTimeZone(text)]).toEqual([text, false, false])
    expect(timeZoneProblem(text)).toBe(
      `must be a time zone such as Europe/Oslo, America/New_York, UTC or +05:45, not "${text}"`,
    )
  }
  for (const offset of ['+05:17', '-00:01', '+0050']) {
    expect([offset, isIntlTimeZone(offset), isTimeZone(offset)]).toEqual([offset, true, false])
  }
})

test('two names of one zone are the same zone', () => {
  expect(isSameTimeZone('UTC', 'Etc/UTC')).toBe(true)
  expect(isSameTimeZone('europe/oslo', 'Europe/Oslo')).toBe(true)
  expect(isSameTimeZone('Asia/Kolkata', 'Asia/Calcutta')).toBe(true)
  expect(isSameTimeZone('Europe/Oslo', 'UTC')).toBe(false)
})

test('days stay right when more zones and years are asked for than are remembered', () => {
  const noon = (year: number) => secondsOf(`${year}-07-01T12:00:00Z`)
  for (let year = 1971; year < 2200; year++)
    expect(dayOf('Europe/Oslo', noon(year))).toBe(Math.floor(noon(year) / daySeconds))
  for (const zone of places.slice(0, 70)) dayOf(zone, noon(2026))
  expect(hoursOf('Europe/Oslo', '2026-03-29')).toBe(23)
  expect(hoursOf('Europe/Oslo', '1985-03-31')).toBe(23)
})

test('localTimeOf is what the clocks of a zone show, before and after they change', () => {
  const shown = (time: string) => new Date(localTimeOf('Europe/Oslo', Date.parse(time) / 1000) * 1000).toISOString()
  expect(shown('2026-10-25T00:59:59Z')).toBe('2026-10-25T02:59:59.000Z')
  expect(shown('2026-10-25T01:00:00Z')).toBe('2026-10-25T02:00:00.000Z')
})
