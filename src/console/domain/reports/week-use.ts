// Use by hour of the week: sums of rooms, and which days and hours a table shows. [contract 16.use]
import type { UseRow } from '../../../contract/reports/use.ts'
import { weekdays } from '../../../contract/weekly-hours.ts'

export type UseWeek = NonNullable<UseRow['week']>

const weekHourCount = 168
export const weekdayTitles = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const

export const sumWeeks = (rows: readonly UseRow[]): UseWeek => {
  const sum = { measured: Array<number>(weekHourCount).fill(0), used: Array<number>(weekHourCount).fill(0) }
  for (const { week } of rows) {
    if (!week) continue
    for (let hour = 0; hour < weekHourCount; hour++) {
      sum.measured[hour] = (sum.measured[hour] ?? 0) + (week.measured[hour] ?? 0)
      sum.used[hour] = (sum.used[hour] ?? 0) + (week.used[hour] ?? 0)
    }
  }
  return sum
}

/** The days (0 is Monday) and hours in which something was measured; the hours between them are shown too. */
export function measuredHours(weeks: readonly UseWeek[]): { readonly days: number[]; readonly hours: number[] } {
  const [days, hours] = [new Set<number>(), new Set<number>()]
  for (const { measured } of weeks) {
    for (let hour = 0; hour < weekHourCount; hour++) {
      if ((measured[hour] ?? 0) === 0) continue
      days.add(Math.floor(hour / 24))
      hours.add(hour % 24)
    }
  }
  if (hours.size === 0) return { days: [], hours: [] }
  const [first, last] = [Math.min(...hours), Math.max(...hours)]
  return {
    days: [...days].sort((a, b) => a - b),
    hours: Array.from({ length: last - first + 1 }, (_, i) => first + i),
  }
}

/** Undefined if nothing was measured in that hour. */
export function hourUse({ measured, used }: UseWeek, hourOfWeek: number): number | undefined {
  const all = measured[hourOfWeek] ?? 0
  return all === 0 ? undefined : (used[hourOfWeek] ?? 0) / all
}

const twoDigits = (n: number) => String(n).padStart(2, '0')
/** "09:00 to 10:00" */
export const hourRange = (hour: number): string => `${twoDigits(hour)}:00 to ${twoDigits(hour + 1)}:00`
export const hourTitle = (hourOfWeek: number): string =>
  `${weekdayTitles[Math.floor(hourOfWeek / 24)]}s, ${hourRange(hourOfWeek % 24)}`

/** The hour as the query of a report: only these quarters count. */
export const hourQuery = (hourOfWeek: number): { readonly days: string; readonly hours: string } => ({
  days: weekdays[Math.floor(hourOfWeek / 24)] ?? 'mon',
  hours: `${twoDigits(hourOfWeek % 24)}:00-${twoDigits((hourOfWeek % 24) + 1)}:00`,
})

/** The hour of an address. */
export function parseHour(text: string | undefined): number | undefined {
  const hour = text !== undefined && /^\d{1,3}$/.test(text) ? Number(text) : undefined
  return hour !== undefined && hour < weekHourCount ? hour : undefined
}
