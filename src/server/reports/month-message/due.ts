// Says when the messages about a month are due: at 07:00 of the first Monday to Friday of the next one. [contract 16.monthMessage]
import { daySeconds, hourSeconds } from '../../../contract/durations.ts'
import { dayOf, timesOfDay } from '../../core/time/time-zone.ts'

const hourOfDay = 7
/** A service that was stopped writes them up to so many days late. */
const lateDays = 7
const [saturday, sunday] = [6, 0]

/** Returns the month whose messages are due at a time in Unix seconds, counted in months since the year 0; otherwise undefined. */
export function dueMonth(zone: string, now: number): number | undefined {
  const today = new Date(dayOf(zone, now) * daySeconds * 1000)
  const [year, month] = [today.getUTCFullYear(), today.getUTCMonth()]
  const first = firstWorkingDay(year, month)
  const from = timesOfDay(zone, first, hourOfDay * hourSeconds).first
  if (now < from || dayOf(zone, now) >= first + lateDays) return undefined
  return year * 12 + month - 1
}

/** As the number of days since 1970-01-01. */
function firstWorkingDay(year: number, month: number): number {
  const first = Date.UTC(year, month, 1) / (daySeconds * 1000)
  switch (new Date(first * daySeconds * 1000).getUTCDay()) {
    case saturday:
      return first + 2
    case sunday:
      return first + 1
    default:
      return first
  }
}
