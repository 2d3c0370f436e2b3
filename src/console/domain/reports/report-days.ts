// The days and hours of reports: days such as 2026-11-19, and the hours that count in words.
import { dayMs } from '../../../contract/durations.ts'

const dayName = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
export const dayTitle = (day: string): string => dayName.format(Date.parse(day))

/** The day after, or some days later or earlier. */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10)

/** Today in a time zone. */
export const todayIn = (zone: string, now = Date.now()): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(now)

const weekdayNames: Readonly<Record<string, string>> = {
  ...{
    mon: 'Monday',
    tue: 'Tuesday',
    wed: 'Wednesday',
    thu: 'Thursday',
    fri: 'Friday',
    sat: 'Saturday',
    sun: 'Sunday',
  },
}
const order = Object.keys(weekdayNames)

/** "Monday to Friday" */
function daysText(days: string): string {
  const chosen = order.filter((day) => days.split(',').includes(day))
  if (chosen.length === order.length) return 'every day'
  const names = chosen.map((day) => weekdayNames[day])
  const [first = '', last = ''] = [chosen[0], chosen.at(-1)]
  const isRun = order.indexOf(last) - order.indexOf(first) === chosen.length - 1
  return isRun && chosen.length > 2 ? `${names[0]} to ${names.at(-1)}` : names.join(', ')
}

/** "Monday to Friday, 08:00 to 18:00" */
export const hoursText = ({ days, hours }: { readonly days: string; readonly hours: string }): string =>
  `${daysText(days)}, ${hours === 'always' ? 'all hours' : hours.replace('-', ' to ')}`
