// Change windows in 50 time zones over 10 years, against a walk over the minutes that the clocks of Intl show. [contract 12.window]
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isFullForm, runCount, sampleOf } from '../../../../test/support/long-form.ts'
import { dayMs, minuteMs } from '../../../contract/durations.ts'
import { type Weekday, type WeeklyHours, weekdays } from '../../../contract/weekly-hours.ts'
import { isInChangeWindow, nextChangeTime } from './change-window.ts'

/** Half of these change their clocks in ways of their own: at midnight, by half an hour, in Ramadan, or on other days. */
const zones =
  `Africa/Cairo Africa/Casablanca Africa/Johannesburg Africa/Lagos America/Anchorage America/Argentina/Buenos_Aires
  America/Asuncion America/Bogota America/Chicago America/Denver America/Halifax America/Havana America/Los_Angeles
  America/Mexico_City America/New_York America/Nuuk America/Phoenix America/Santiago America/Sao_Paulo America/Scoresbysund
  America/St_Johns Antarctica/Casey Antarctica/Troll Asia/Amman Asia/Beirut Asia/Dubai Asia/Gaza Asia/Hong_Kong Asia/Jerusalem
  Asia/Kathmandu Asia/Kolkata Asia/Pyongyang Asia/Shanghai Asia/Singapore Asia/Tehran Asia/Tokyo Atlantic/Azores
  Australia/Adelaide Australia/Brisbane Australia/Lord_Howe Australia/Sydney Europe/Berlin Europe/Dublin Europe/Istanbul
  Europe/London Europe/Moscow Pacific/Apia Pacific/Auckland Pacific/Chatham UTC`.split(/\s+/)
const years = Array.from({ length: 10 }, (_, n) => 2018 + n)

const formats = new Map<string, Intl.DateTimeFormat>()
/** Returns the time that the clocks of a zone show, in minutes since 1970 as those clocks count. */
function shownAt(zone: string, atMs: number): number {
  const fields = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...fields })
  formats.set(zone, format)
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = (format.format(atMs).match(/\d+/g) ?? []).map(Number)
  return Date.UTC(year, month - 1, day, hour, minute) / minuteMs
}

const dayMinutes = 24 * 60
/** A stretch has six days. A day of it is looked at only if the windows around it are inside of the stretch. */
const stretchMinutes = 6 * dayMinutes
/** In the short form the clock is read every hour, and every minute if it changes in between. */
const stepMinutes = runCount({ short: 60, long: 1 })

/** Returns the times that the clocks show in each minute of a stretch. */
function readClock(zone: string, startMs: number): number[] {
  const shown: number[] = []
  for (let minute = 0; minute < stretchMinutes; minute += stepMinutes) {
    const first = shownAt(zone, startMs + minute * minuteMs)
    const isEven = shownAt(zone, startMs + (minute + stepMinutes) * minuteMs) === first + stepMinutes
    for (let i = 0; i < stepMinutes; i++)
      shown.push(isEven ? first + i : shownAt(zone, startMs + (minute + i) * minuteMs))
  }
  return shown
}

const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
const weekdayOf = (day: number) => weekdays[(new Date(day * dayMs).getUTCDay() + 6) % 7] as Weekday

/** Marks the minutes in the window: from the first one that shows the beginning or a later time, to before the last one that shows the end, or skips it. */
function markMinutes({ days, from, to }: WeeklyHours, shown: readonly number[]): boolean[] {
  const marks = shown.map(() => false)
  const [firstDay, lastDay] = [shown[0] ?? 0, shown.at(-1) ?? 0].map((minute) => Math.floor(minute / dayMinutes))
  for (let day = (firstDay ?? 0) - 2; day <= (lastDay ?? 0); day++) {
    if (!days.includes(weekdayOf(day))) continue
    const begin = day * dayMinutes + minutesOf(from)
    const end = (minutesOf(to) > minutesOf(from) ? day : day + 1) * dayMinutes + minutesOf(to)
    const first = shown.findIndex((minute) => minute >= begin)
    const skipped = shown.findLastIndex((minute) => minute < end) + 1
    const last = Math.max(skipped, shown.lastIndexOf(end))
    if (first >= 0) marks.fill(true, first, Math.max(first, last))
  }
  return marks
}

/** The days on which the clocks of a zone change in a year, and one day without a reason. */
function interestingDays(zone: string, year: number): number[] {
  const offsetAt = (atMs: number) => shownAt(zone, atMs) - atMs / minuteMs
  const days: number[] = [Date.UTC(year, 0, 1) + ((year * 37 + zone.length * 11) % 365) * dayMs]
  for (let week = Date.UTC(year, 0, 1); week < Date.UTC(year + 1, 0, 1); week += 7 * dayMs) {
    if (offsetAt(week) === offsetAt(week + 7 * dayMs)) continue
    for (let day = week; day < week + 7 * dayMs; day += dayMs) {
      if (offsetAt(day) !== offsetAt(day + dayMs)) days.push(day)
    }
  }
  return days
}

const text = (minute: number) =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
const anyTime = fc.integer({ min: 0, max: dayMinutes - 1 })
/** Clocks change at night, so most windows begin or end then. */
const nightTime = fc.integer({ min: 0, max: 4 * 60 })
const windows: fc.Arbitrary<WeeklyHours> = fc.record({
  days: fc.subarray([...weekdays], { minLength: 1 }),
  from: fc.oneof(anyTime, nightTime).map(text),
  to: fc.oneof(anyTime, nightTime).map(text),
})

test(
  'isInChangeWindow and nextChangeTime are what the minutes of the clocks say, in 50 zones and 10 years with every change of clocks',
  () => {
    expect(zones).toHaveLength(50)
    const perStretch = runCount({ short: 1, long: 6 })
    const [seen, wrong] = [{ stretches: 0, inside: 0, outside: 0, openings: 0 }, [] as string[]]
    for (const [index, zone] of zones.entries()) {
      // In the short form a zone has three of the years, and zones take them in turn.
      for (const year of sampleOf(years, index, 3)) {
        for (const day of interestingDays(zone, year)) {
          seen.stretches++
          const startMs = day - 3 * dayMs
          const shown = readClock(zone, startMs)
          for (const window of fc.sample(windows, { numRuns: perStretch, seed: day / dayMs + index })) {
            const marks = markMinutes(window, shown)
            for (const minute of minutesToCompare(marks, day / dayMs)) {
              const at = startMs + minute * minuteMs
              const isInside = isInChangeWindow(window, zone, at)
              seen[isInside ? 'inside' : 'outside']++
              const opening = marks.indexOf(true, minute)
              const next = nextChangeTime(window, zone, at)
              if (opening >= 0) seen.openings++
              const isRight = isInside === marks[minute] && (opening < 0 || next === startMs + opening * minuteMs)
              if (!isRight) wrong.push(`${zone} ${new Date(at).toISOString()} ${JSON.stringify(window)}`)
            }
          }
        }
      }
    }
    expect(wrong).toEqual([])
    expect(seen.stretches).toBeGreaterThan(isFullForm ? 1_000 : 300)
    expect(Math.min(seen.inside, seen.outside, seen.openings)).toBeGreaterThan(isFullForm ? 3_000 : 900)
  },
  runCount({ short: 60_000, long: 3_600_000 }),
)

/** All minutes, or in the short form those around beginnings and ends, and some others; the first and the last days are left out. */
function minutesToCompare(marks: readonly boolean[], seed: number): Iterable<number> {
  const [first, last] = [2 * dayMinutes, stretchMinutes - 2 * dayMinutes]
  const step = runCount({ short: 263, long: 1 })
  const minutes = new Set<number>()
  for (let minute = first; minute < last; minute++) {
    if (marks[minute] !== marks[minute - 1]) minutes.add(minute - 1).add(minute)
    if ((minute + seed) % step === 0) minutes.add(minute)
  }
  return minutes
}

test('a location without a window can be changed at any time', () => {
  expect(isInChangeWindow(null, 'Europe/Oslo', 5)).toBe(true)
  expect(nextChangeTime(null, 'Europe/Oslo', 5)).toBe(5)
})
