// Finds which seconds and which quarters of an hour of a window a report counts: those in its hours and on its days, by the clocks of a zone.
import { type Weekday, weekdays } from '../contract/weekly-hours.ts'
import { joinPeriods, type SecondsPeriod } from './periods.ts'

const quarterSeconds = 900
const daySeconds = 86_400
const hourSeconds = 3600

export interface CountedHours {
  /** The time of day in seconds, such as 28800 for 08:00, of whole quarters of an hour. */
  readonly from: number
  /** After `from`, and at most a day later: hours that go beyond midnight end on the next day, after 86400. */
  readonly to: number
  /** The days on which the hours begin. */
  readonly days: readonly Weekday[]
}

export interface Window {
  readonly from: number
  readonly to: number
  /** Undefined counts every hour of every day. */
  readonly hours: CountedHours | undefined
  /** The seconds since 1970 that the clocks of the zone show at a time. */
  readonly localTime: (seconds: number) => number
}

export interface CountedQuarter {
  /** Counted since 1970 in UTC. */
  readonly quarter: number
  /** Counted since 1970 by the clocks of the zone. */
  readonly day: number
  readonly weekday: number
  readonly hour: number
}

/** Clocks change and counted hours begin at quarters of an hour, so a quarter is counted as a whole or not at all. */
export function countedQuarters({ from, to, hours, localTime }: Window): CountedQuarter[] {
  const counted: CountedQuarter[] = []
  for (let quarter = Math.floor(from / quarterSeconds); quarter * quarterSeconds < to; quarter++) {
    const local = localTime(quarter * quarterSeconds)
    const day = Math.floor(local / daySeconds)
    const time = local - day * daySeconds
    // 1970-01-01, which is day 0, was a Thursday.
    const weekday = (((day + 3) % 7) + 7) % 7
    if (hours && !isWithin(hours, weekday, time)) continue
    counted.push({ quarter, day, weekday, hour: Math.floor(time / hourSeconds) })
  }
  return counted
}

function isWithin({ from, to, days }: CountedHours, weekday: number, time: number): boolean {
  if (time >= from && time < to && days.includes(weekdays[weekday] as Weekday)) return true
  return time + daySeconds < to && days.includes(weekdays[(weekday + 6) % 7] as Weekday)
}

/** The counted seconds of the window. A window that begins or ends within a quarter cuts it. */
export const countedPeriods = (window: Window): SecondsPeriod[] =>
  joinPeriods(
    countedQuarters(window).map(({ quarter }): SecondsPeriod => {
      const start = quarter * quarterSeconds
      return [Math.max(start, window.from), Math.min(start + quarterSeconds, window.to)]
    }),
  )
