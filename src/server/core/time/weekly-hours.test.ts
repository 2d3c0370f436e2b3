// Tests weekly hours by the clocks of time zones, against a slow computation that looks at the clock again and again. [contract 10.silence]
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runCount } from '../../../../test/support/long-form.ts'
import { type Weekday, type WeeklyHours, weekdays } from '../../../contract/weekly-hours.ts'
import { isWithinHours, nextTimeWithin } from './weekly-hours.ts'

const quarterMs = 900_000
const dayMs = 86_400_000

const formats = new Map<string, Intl.DateTimeFormat>()
/** The local time as Intl writes it, in milliseconds as if that clock showed UTC. */
function localTimeAt(zone: string, at: number): number {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    })
  formats.set(zone, format)
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = (format.format(at).match(/\d+/g) ?? []).map(Number)
  return Date.UTC(year, month - 1, day, hour, minute)
}

/** Looks at the clock every quarter of an hour, from two days before until two days after. */
function slowIsWithin({ days, from, to }: WeeklyHours, zone: string, at: number): boolean {
  const midnight = Math.floor(localTimeAt(zone, at) / dayMs) * dayMs
  const times = Array.from({ length: 6 * 96 }, (_, i) => midnight - 3 * dayMs + i * quarterMs)
  const shown = times.map((time) => ({ time, local: localTimeAt(zone, time) }))
  const minutes = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3))
  for (let day = midnight - 2 * dayMs; day <= midnight + dayMs; day += dayMs) {
    if (!days.includes(weekdays[(new Date(day).getUTCDay() + 6) % 7] as Weekday)) continue
    const begin = day + minutes(from) * 60_000
    const end = day + (minutes(to) > minutes(from) ? 0 : dayMs) + minutes(to) * 60_000
    // A span begins when the clock first shows its beginning or a later time, and ends when the clock last shows its end, or skips it.
    const first = shown.find(({ local }) => local >= begin)?.time ?? Number.POSITIVE_INFINITY
    const skipped = (shown.findLast(({ local }) => local < end)?.time ?? Number.NEGATIVE_INFINITY) + quarterMs
    const last = shown.findLast(({ local }) => local === end)?.time ?? skipped
    if (at >= first && at < last) return true
  }
  return false
}

/** The times at which clocks change in 2026, which most of the examples are near. */
function changesOf(zone: string): number[] {
  const offsetAt = (at: number) => localTimeAt(zone, at) - at
  const days = Array.from({ length: 365 }, (_, i) => Date.UTC(2026, 0, 1) + i * dayMs)
  const changes = days.filter((day) => offsetAt(day) !== offsetAt(day + dayMs))
  return changes.length > 0 ? changes : [Date.UTC(2026, 5, 1)]
}

const zones = [
  'UTC',
  'Europe/Oslo',
  'America/New_York',
  'America/Havana',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'Antarctica/Troll',
  'America/Nuuk',
] as const
const changes = new Map(zones.map((zone) => [zone, changesOf(zone)]))

const timeOfDay = fc
  .integer({ min: 0, max: 95 })
  .map((n) => `${String(Math.floor(n / 4)).padStart(2, '0')}:${String((n % 4) * 15).padStart(2, '0')}`)
const hours: fc.Arbitrary<WeeklyHours> = fc.record({
  days: fc.subarray([...weekdays], { minLength: 1 }),
  from: timeOfDay,
  to: timeOfDay,
})

test('hours begin and end by the clocks of the zone, across every change of clocks', () => {
  const situation = fc
    .constantFrom(...zones)
    .chain((zone) =>
      fc.tuple(fc.constant(zone), fc.constantFrom(...(changes.get(zone) ?? [])), fc.integer({ min: -150, max: 250 })),
    )
  fc.assert(
    fc.property(hours, situation, (weekly, [zone, change, quarters]) => {
      const at = change + quarters * quarterMs
      expect(isWithinHours(weekly, zone, at), `${zone} ${new Date(at).toISOString()}`).toBe(
        slowIsWithin(weekly, zone, at),
      )
    }),
    { numRuns: runCount({ short: 120, full: 400, long: 400 }) },
  )
})

test('an hour that comes twice is within the hours both times, and a beginning that is left out is made up for at once', () => {
  // In Oslo, 02:00 to 03:00 comes twice on 2026-10-25, and is left out on 2026-03-29.
  const night: WeeklyHours = { days: ['sun'], from: '02:30', to: '02:45' }
  const isWithin = (time: string) => isWithinHours(night, 'Europe/Oslo', Date.parse(time))
  expect(isWithin('2026-10-25T00:29:59Z')).toBe(false)
  expect(isWithin('2026-10-25T00:30:00Z')).toBe(true)
  expect(isWithin('2026-10-25T01:44:59Z')).toBe(true)
  expect(isWithin('2026-10-25T01:45:00Z')).toBe(false)
  const morning: WeeklyHours = { ...night, to: '04:00' }
  expect(isWithinHours(morning, 'Europe/Oslo', Date.parse('2026-03-29T00:59:59Z'))).toBe(false)
  expect(isWithinHours(morning, 'Europe/Oslo', Date.parse('2026-03-29T01:00:00Z'))).toBe(true)
  expect(isWithinHours(morning, 'Europe/Oslo', Date.parse('2026-03-29T01:59:59Z'))).toBe(true)
  expect(isWithinHours(morning, 'Europe/Oslo', Date.parse('2026-03-29T02:00:00Z'))).toBe(false)
})

test('an end that is not later than the beginning is on the next day, whose own name does not matter', () => {
  const weekend: WeeklyHours = { days: ['fri'], from: '20:00', to: '05:00' }
  const isWithin = (time: string) => isWithinHours(weekend, 'UTC', Date.parse(time))
  expect(isWithin('2026-05-01T19:59:00Z')).toBe(false)
  expect(isWithin('2026-05-01T20:00:00Z')).toBe(true)
  expect(isWithin('2026-05-02T04:59:00Z')).toBe(true)
  expect(isWithin('2026-05-02T05:00:00Z')).toBe(false)
  expect(isWithin('2026-05-02T20:00:00Z')).toBe(false)
  const wholeDay: WeeklyHours = { days: ['fri'], from: '00:00', to: '00:00' }
  expect(isWithinHours(wholeDay, 'UTC', Date.parse('2026-05-01T23:59:59Z'))).toBe(true)
  expect(isWithinHours(wholeDay, 'UTC', Date.parse('2026-05-02T00:00:00Z'))).toBe(false)
})

const utc = (text: string) => Date.parse(`${text}Z`)
const open = (hours: Parameters<typeof nextTimeWithin>[0], zone: string, at: string) =>
  new Date(nextTimeWithin(hours, zone, utc(at))).toISOString().slice(0, 16)

test('hours open at their beginning, also on the next fitting day, over midnight, and where clocks change', () => {
  const office = { days: ['mon', 'fri'] as ('mon' | 'fri')[], from: '08:00', to: '18:00' }
  expect(open(office, 'UTC', '2027-03-01T09:30')).toBe('2027-03-01T09:30')
  expect(open(office, 'UTC', '2027-03-01T07:00')).toBe('2027-03-01T08:00')
  expect(open(office, 'UTC', '2027-03-01T18:00')).toBe('2027-03-05T08:00')
  const night = { days: ['sat'] as 'sat'[], from: '22:00', to: '06:00' }
  expect(open(night, 'UTC', '2027-03-07T05:59')).toBe('2027-03-07T05:59')
  expect(open(night, 'UTC', '2027-03-07T06:00')).toBe('2027-03-13T22:00')
  // Clocks in Berlin go from 02:00 to 03:00 on 28 March 2027, and from 03:00 to 02:00 on 31 October.
  const early = { days: ['sun'] as 'sun'[], from: '02:30', to: '05:00' }
  expect(open(early, 'Europe/Berlin', '2027-03-27T12:00')).toBe('2027-03-28T01:00')
  const morning = { days: ['sun'] as 'sun'[], from: '08:00', to: '09:00' }
  expect(open(morning, 'Europe/Berlin', '2027-03-27T12:00')).toBe('2027-03-28T06:00')
  expect(open(morning, 'Europe/Berlin', '2027-10-30T12:00')).toBe('2027-10-31T07:00')
})

test('the next time within hours is within them, and no earlier minute is', () => {
  const clock = fc.tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  const text = ([hour, minute]: [number, number]) =>
    `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
  const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Apia']
  const hours = fc
    .record({ days: fc.subarray([...weekdays], { minLength: 1 }), from: clock.map(text), to: clock.map(text) })
    .filter(({ from, to }) => from !== to)
  const minuteMs = 60_000
  const times = fc.integer({ min: utc('2027-03-10T00:00') / minuteMs, max: utc('2027-04-10T00:00') / minuteMs })
  fc.assert(
    fc.property(hours, fc.constantFrom(...zones), times, (weekly, zone, minutes) => {
      const found = nextTimeWithin(weekly, zone, minutes * minuteMs)
      let first = minutes * minuteMs
      while (!isWithinHours(weekly, zone, first)) first += minuteMs
      expect(found).toBe(first)
    }),
    { numRuns: 50 },
  )
})
