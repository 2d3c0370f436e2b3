// Says whether a time is within weekly hours, and when it next is, by the clocks of a time zone and across their changes. [contract 10.silence]
import { hourSeconds, minuteSeconds, secondMs } from '../../../contract/durations.ts'
import { type Weekday, type WeeklyHours, weekdays } from '../../../contract/weekly-hours.ts'
import { dayOf, timesOfDay } from './time-zone.ts'

/** In Unix seconds. */
interface Span {
  readonly begin: number
  readonly end: number
}

/** A span of yesterday may last until today. One more day on both sides covers zones that change their clocks at midnight. */
const daysBefore = 2
/** Hours on one day of the week begin again after seven days, one of which may be left out where the date line was moved. */
const daysAfter = 9

export function isWithinHours(hours: WeeklyHours, zone: string, atMs: number): boolean {
  const at = atMs / secondMs
  return spansAround(hours, zone, at, 1).some(({ begin, end }) => at >= begin && at < end)
}

/** Returns the time itself if it is within the hours, and otherwise when they next begin. */
export function nextTimeWithin(hours: WeeklyHours, zone: string, atMs: number): number {
  if (isWithinHours(hours, zone, atMs)) return atMs
  const begins = spansAround(hours, zone, atMs / secondMs, daysAfter)
    .filter(({ begin, end }) => begin * secondMs > atMs && end > begin)
    .map(({ begin }) => begin * secondMs)
  return Math.min(...begins)
}

/** Returns the times within the hours between two times, in Unix seconds and in order. They can overlap. */
export function periodsWithin(
  hours: WeeklyHours,
  zone: string,
  from: number,
  to: number,
): (readonly [number, number])[] {
  const periods: (readonly [number, number])[] = []
  for (const { begin, end } of spansOf(hours, zone, dayOf(zone, from) - daysBefore, dayOf(zone, to) + 1)) {
    const period = [Math.max(begin, from), Math.min(end, to)] as const
    if (period[0] < period[1]) periods.push(period)
  }
  return periods
}

/**
 * A span begins when the clocks first show `from` on one of the days, and ends when they last show `to`, on the next day if that is not later.
 * So an hour that comes twice is within the hours both times, and a span that would begin in an hour that is left out begins after it.
 */
function spansOf({ days, from, to }: WeeklyHours, zone: string, firstDay: number, lastDay: number): Span[] {
  const [begin, end] = [secondsOfDay(from), secondsOfDay(to)]
  const length = end > begin ? 0 : 1
  const spans: Span[] = []
  for (let day = firstDay; day <= lastDay; day++) {
    if (!days.includes(weekdayOfDay(day))) continue
    spans.push({ begin: timesOfDay(zone, day, begin).first, end: timesOfDay(zone, day + length, end).last })
  }
  return spans
}

function spansAround(hours: WeeklyHours, zone: string, at: number, daysAhead: number): Span[] {
  const today = dayOf(zone, Math.floor(at))
  return spansOf(hours, zone, today - daysBefore, today + daysAhead)
}

export function secondsOfDay(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * hourSeconds + minutes * minuteSeconds
}

/** 1970-01-01, which is day 0, was a Thursday. */
export const weekdayOfDay = (day: number): Weekday => weekdays.at((day + 3) % weekdays.length) as Weekday
