// The days of the week in words.
import { type Weekday, weekdays } from '../../../contract/weekly-hours.ts'

export const weekdayNames: Readonly<Record<Weekday, string>> = {
  mon: 'Mon',
  tue: 'Tue',
  wed: 'Wed',
  thu: 'Thu',
  fri: 'Fri',
  sat: 'Sat',
  sun: 'Sun',
}

/** "Every day", "Mon to Fri", or "Mon, Wed". */
export function daysText(days: readonly Weekday[]): string {
  const sorted = weekdays.filter((day) => days.includes(day))
  const [first, last] = [sorted[0], sorted.at(-1)]
  if (!first || !last) return ''
  if (sorted.length === weekdays.length) return 'Every day'
  const isRow = sorted.length > 2 && weekdays.indexOf(last) - weekdays.indexOf(first) === sorted.length - 1
  return isRow ? `${weekdayNames[first]} to ${weekdayNames[last]}` : sorted.map((day) => weekdayNames[day]).join(', ')
}
