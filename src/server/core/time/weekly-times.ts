// Says when the clocks of a time zone show a time of day on some days of the week, across their changes. [contract 12.recurring]
import { daySeconds, secondMs } from '../../../contract/durations.ts'
import type { Weekday } from '../../../contract/weekly-hours.ts'
import { dayOf, startOfDay, timesOfDay } from './time-zone.ts'
import { secondsOfDay, weekdayOfDay } from './weekly-hours.ts'

export interface WeeklyTime {
  readonly days: readonly Weekday[]
  /** Such as 03:00. */
  readonly at: string
}

/** A weekly time comes again after seven days, one of which may be left out where the date line was moved. */
const longestPauseDays = 9

/**
 * Lists the times after one time and up to another one, in milliseconds and in order. Of a time that comes twice the first one counts. A time that
 * clocks are set forward over is when they are set. A day that a zone left out has no time.
 */
export function weeklyTimesBetween(weekly: WeeklyTime, zone: string, afterMs: number, untilMs: number): number[] {
  const seconds = secondsOfDay(weekly.at)
  const [first, last] = [afterMs, untilMs].map((at) => dayOf(zone, Math.floor(at / secondMs))) as [number, number]
  const times: number[] = []
  // A time near midnight that clocks are set forward over is on the next day.
  for (let day = first - 1; day <= last; day++) {
    if (!weekly.days.includes(weekdayOfDay(day)) || startOfDay(zone, day) === startOfDay(zone, day + 1)) continue
    const at = timesOfDay(zone, day, seconds).first * secondMs
    if (at > afterMs && at <= untilMs) times.push(at)
  }
  return times
}

export function nextWeeklyTime(weekly: WeeklyTime, zone: string, afterMs: number): number {
  const [next] = weeklyTimesBetween(weekly, zone, afterMs, afterMs + longestPauseDays * daySeconds * secondMs)
  if (next === undefined) throw new Error(`no day of ${weekly.days.join()} comes in ${zone}`)
  return next
}
