// Checks the query of a report: its window in each time zone, the hours that count, the order and the page. [contract 16.query]
import { daySeconds, secondMs } from '../../contract/durations.ts'
import type { Violation } from '../../contract/error.ts'
import {
  defaultReportHours,
  defaultReportPage,
  maxReportDays,
  maxReportPage,
  maxRoomDays,
  type ReportGroup,
} from '../../contract/reports/report-query.ts'
import { type Weekday, type WeeklyHours, weekdays } from '../../contract/weekly-hours.ts'
import type { CountedHours, Window } from '../../insight/counted-time.ts'
import type { InputOf } from '../context/handlers.ts'
import { invalid, refuseReversed } from '../core/failure.ts'
import { pageSizeOf } from '../core/page-token.ts'
import { quarterSeconds } from '../core/time/slots.ts'
import { localTimeOf, startOfDay } from '../core/time/time-zone.ts'

export type ReportQuery = Omit<InputOf<'reportsUse'>['query'], 'sort'> & { readonly sort?: string }

/** The values of an organisation on which the query depends. */
export interface ReportOrg {
  readonly timezone: string
  readonly working_hours: string | null
}

export interface ReportRequest {
  /** The zone of rooms whose location has none. */
  readonly zone: string
  readonly groupBy: ReportGroup
  /** The name of a figure, or else `name`. */
  readonly sortBy: string
  readonly isDescending: boolean
  readonly pageSize: number
  /** How many days the window has, rounded up. */
  readonly days: number
  /** As the answer shows them. */
  readonly hoursText: string
  readonly daysText: string
  /** The window of rooms in a time zone, in Unix seconds. It ends where it begins if nothing of it is left. */
  readonly windowIn: (zone: string) => Window
  /** A time before the window in any zone. */
  readonly earliest: number
  /** A time after the window in any zone. */
  readonly latest: number
}

export function reportRequestOf(query: ReportQuery, org: ReportOrg, nowMs: number): ReportRequest {
  const violations: Violation[] = []
  const counted = countedHoursOf(query, org, violations)
  if (violations.length > 0) throw invalid(violations)
  const { from, sort = 'name' } = query
  const start = secondsOf(from, utcDay)
  const { to = Math.max(nowMs, start * secondMs) } = query
  const end = secondsOf(to, utcDay)
  refuseReversed({ from: start, to: end })
  if (end - start > maxReportDays * daySeconds) {
    throw invalid([{ field: 'from', error: `must be at most ${maxReportDays} days before to` }])
  }
  const timeIn = (time: number | string, zone: string) => secondsOf(time, (day) => startOfDay(zone, day))
  return {
    zone: org.timezone,
    groupBy: query.groupBy ?? 'room',
    sortBy: sort.replace(/^-/, ''),
    isDescending: sort.startsWith('-'),
    pageSize: pageSizeOf(query.pageSize, defaultReportPage, maxReportPage),
    days: Math.max(1, Math.ceil((end - start) / daySeconds)),
    hoursText: counted.hoursText,
    daysText: counted.days.join(),
    windowIn: (zone) => {
      const first = Math.floor(timeIn(from, zone))
      return {
        from: first,
        to: Math.max(first, Math.ceil(timeIn(to, zone))),
        hours: counted.hours,
        localTime: (seconds) => localTimeOf(zone, seconds),
      }
    },
    earliest: Math.floor(start) - daySeconds,
    latest: Math.ceil(end) + daySeconds,
  }
}

/** A report of very many rooms and days is refused if it needs the figures of all of them before its first row. [contract 16.query] */
export function refuseTooMany(request: ReportRequest, roomCount: number): void {
  const { sortBy, groupBy, days } = request
  if (!hasTooMany(request, roomCount) || (groupBy === 'room' && sortBy === 'name')) return
  const [field, what] = groupBy === 'room' ? ['sort', 'sorted by a figure'] : ['groupBy', 'grouped']
  const error = `needs all figures of ${roomCount} rooms on ${days} days, and a report that is ${what} has at most ${maxRoomDays.toLocaleString('en')} rooms times days. Ask for fewer rooms or days, or for rooms by name`
  throw invalid([{ field, error }])
}

/** Whether the figures of all rooms are too many for one report. */
export const hasTooMany = ({ days }: Pick<ReportRequest, 'days'>, roomCount: number): boolean =>
  roomCount * days > maxRoomDays

const utcDay = (day: number): number => day * daySeconds
const secondsOf = (time: number | string, startOf: (day: number) => number): number =>
  typeof time === 'number' ? time / secondMs : startOf(Date.parse(time) / secondMs / daySeconds)

interface AskedHours {
  /** Undefined counts every hour of every day. */
  readonly hours: CountedHours | undefined
  readonly hoursText: string
  readonly days: readonly Weekday[]
}

function countedHoursOf(
  { hours: asked, days: askedDays }: ReportQuery,
  org: ReportOrg,
  violations: Violation[],
): AskedHours {
  const usual: WeeklyHours = org.working_hours === null ? defaultReportHours : JSON.parse(org.working_hours)
  const usualDays = asked === 'always' ? weekdays : usual.days
  const days = askedDays === undefined ? usualDays : daysOf(askedDays, violations)
  if (asked === 'always') {
    const hours = days.length < weekdays.length ? { from: 0, to: daySeconds, days } : undefined
    return { hours, hoursText: 'always', days }
  }
  const span = asked === undefined ? wholeQuarters(usual) : spanOf(asked, violations)
  return { hours: { ...span, days }, hoursText: `${timeText(span.from)}-${timeText(span.to)}`, days }
}

interface Span {
  readonly from: number
  readonly to: number
}

const wholeHours = /^((?:[01]\d|2[0-3]):(?:00|15|30|45))-((?:[01]\d|2[0-3]):(?:00|15|30|45)|24:00)$/

function spanOf(text: string, violations: Violation[]): Span {
  const [, from, to] = wholeHours.exec(text) ?? []
  if (from !== undefined && to !== undefined) return endAfter(secondsOfTime(from), secondsOfTime(to))
  violations.push({ field: 'hours', error: 'must be hours in whole quarters, such as 08:00-18:00, or always' })
  return { from: 0, to: daySeconds }
}

/** Working hours can begin and end at any minute. A quarter of which a part is worked counts. */
const wholeQuarters = ({ from, to }: WeeklyHours): Span => {
  const [start, end] = [secondsOfTime(from) / quarterSeconds, secondsOfTime(to) / quarterSeconds]
  return endAfter(Math.floor(start) * quarterSeconds, Math.ceil(end) * quarterSeconds)
}

/** An end that is not later than the start is on the next day. */
const endAfter = (from: number, to: number): Span => ({ from, to: to > from ? to : to + daySeconds })

const secondsOfTime = (text: string): number => Number(text.slice(0, 2)) * 3600 + Number(text.slice(3)) * 60

function timeText(seconds: number): string {
  const minutes = (seconds > daySeconds ? seconds - daySeconds : seconds) / 60
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
}

function daysOf(text: string, violations: Violation[]): readonly Weekday[] {
  const named = text.split(',').map((name) => name.trim())
  const days = weekdays.filter((day) => named.includes(day))
  if (named.every((name) => (weekdays as readonly string[]).includes(name))) return days
  violations.push({ field: 'days', error: `must be names from ${weekdays.join(', ')}, separated by commas` })
  return weekdays
}
