// The days and hours of reports: days such as 2026-11-19, and the hours that count in words.
import { dayMs } from '../../../contract/durations.ts'

const dayName = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
export const dayTitle = (day: string): string => dayName.format(Date.parse(day))

/** "1 Oct 2026 to 14 Oct 2026", or "October 2026" for all days of a month. */
export function daysTitle(from: string, to: string): string {
  if (from === to) return dayTitle(from)
  const isMonth = from.endsWith('-01') && from.slice(0, 7) === to.slice(0, 7) && addDays(to, 1).endsWith('-01')
  return isMonth ? monthAndYear(from.slice(0, 7)) : `${dayTitle(from)} to ${dayTitle(to)}`
}

const monthName = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
/** "October 2026", of 2026-10. */
export const monthAndYear = (month: string): string => monthName.format(Date.parse(`${month}-01`))

/** Whether a text of an address is a day. */
export const isDay = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

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
