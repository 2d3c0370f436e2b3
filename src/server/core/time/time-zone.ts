// Time zones: whether a name is one, and when its calendar days begin. Fast enough for years of days in one request.

import { LRUCache } from 'lru-cache'
import { daySeconds, hourSeconds, minuteSeconds, secondMs } from '../../../contract/durations.ts'
import { isTimeZone } from '../../../contract/time.ts'

/** The clock changes of this period are looked up together. */
const blockSeconds = 512 * daySeconds
/** Callers may name any zone and any year, so both caches are bounded. */
const maxZones = 64
const maxBlocksPerZone = 64

/** A period without a clock change in a zone, in Unix seconds. */
interface OffsetPeriod {
  readonly from: number
  readonly until: number
  readonly offsetSeconds: number
}

/** Formatting with Intl costs a microsecond, so each day is formatted once and its offset is cached. */
class Calendar {
  readonly name: string
  readonly #format: Intl.DateTimeFormat
  readonly #blocks = new LRUCache<number, readonly OffsetPeriod[]>({ max: maxBlocksPerZone })

  constructor(zone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
    this.name = this.#format.resolvedOptions().timeZone
  }

  localTimeOf(seconds: number): number {
    const periods = this.#periodsAround(seconds)
    let i = 0
    while (i < periods.length - 1 && seconds >= (periods[i] as OffsetPeriod).until) i++
    return seconds + (periods[i] as OffsetPeriod).offsetSeconds
  }

  dayOf(seconds: number): number {
    return Math.floor(this.localTimeOf(seconds) / daySeconds)
  }

  /** The first time at which the local clock shows this time, given in seconds since 1970 as that clock counts, or a later one. */
  firstTimeAt(local: number): number {
    // No clock is a whole day ahead of UTC, so the time is not earlier.
    let periods = this.#periodsAround(local - daySeconds)
    for (;;) {
      for (const { from, until, offsetSeconds } of periods) {
        // Where the clocks were set forward over the time, it counts as shown when they were set.
        const start = Math.max(from, local - offsetSeconds)
        if (start < until) return start
      }
      periods = this.#periodsAround((periods.at(-1) as OffsetPeriod).until)
    }
  }

  /** The last time at which the local clock shows it: where the clocks were set back over it, that is the second one. */
  lastTimeAt(local: number): number {
    let last = this.firstTimeAt(local)
    // No clock is set back by more than a day.
    for (const around of [last, last + daySeconds]) {
      for (const { from, until, offsetSeconds } of this.#periodsAround(around)) {
        const time = local - offsetSeconds
        if (time >= from && time < until && time > last) last = time
      }
    }
    return last
  }

  #periodsAround(seconds: number): readonly OffsetPeriod[] {
    const number = Math.floor(seconds / blockSeconds)
    const cached = this.#blocks.get(number)
    if (cached) return cached
    const block = this.#findPeriods(number * blockSeconds)
    this.#blocks.set(number, block)
    return block
  }

  #findPeriods(from: number): OffsetPeriod[] {
    const until = from + blockSeconds
    const changes = [{ at: from, offsetSeconds: this.#offsetSecondsAt(from) }]
    for (let at = from; at < until; at += daySeconds) {
      this.#addChangesBetween(at, Math.min(at + daySeconds, until - 1), changes)
    }
    return changes.map(({ at, offsetSeconds }, i) => ({ from: at, until: changes[i + 1]?.at ?? until, offsetSeconds }))
  }

  /** Finds the second of each change by bisection. */
  #addChangesBetween(from: number, to: number, changes: { at: number; offsetSeconds: number }[]): void {
    const offsetSeconds = this.#offsetSecondsAt(to)
    if (changes.at(-1)?.offsetSeconds === offsetSeconds) return
    if (to - from === 1) return void changes.push({ at: to, offsetSeconds })
    const middle = Math.floor((from + to) / 2)
    this.#addChangesBetween(from, middle, changes)
    this.#addChangesBetween(middle, to, changes)
  }

  /** Reads the offset from a text such as "1/1/2026, GMT+05:45". */
  #offsetSecondsAt(time: number): number {
    const text = this.#format.format(time * secondMs)
    const [, sign, hours = 0, minutes = 0, seconds = 0] = /([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(text) ?? []
    const offset = Number(hours) * hourSeconds + Number(minutes) * minuteSeconds + Number(seconds)
    return sign === '-' ? -offset : offset
  }
}

const calendars = new LRUCache<string, Calendar>({ max: maxZones })

function calendarOf(zone: string): Calendar {
  const cached = calendars.get(zone)
  if (cached) return cached
  const calendar = new Calendar(zone)
  calendars.set(zone, calendar)
  return calendar
}

/** Whether Intl knows the zone. `isTimeZone` accepts fewer. */
export function isIntlTimeZone(text: string): boolean {
  try {
    calendarOf(text)
    return true
  } catch {
    return false
  }
}

/** Whether a device config may have the zone. One client offers a zone that does not exist; it is accepted. [contract 5.3] */
export const isConfigTimeZone = (text: string): boolean => text === 'Africa/Istanbul' || isIntlTimeZone(text)

/** The rest of an error message that begins with the name of the option or field. */
export const timeZoneProblem = (text: string): string | undefined =>
  isTimeZone(text)
    ? undefined
    : `must be a time zone such as Europe/Oslo, America/New_York, UTC or +05:45, not "${text}"`

const nameOf = (zone: string): string => calendarOf(zone).name

/** Whether two names stand for one zone, such as UTC and Etc/UTC. Both must be zones. */
export const isSameTimeZone = (a: string, b: string): boolean => a === b || nameOf(a) === nameOf(b)

/** The local calendar day of a time in Unix seconds, as the number of days since 1970-01-01. */
export const dayOf = (zone: string, seconds: number): number => calendarOf(zone).dayOf(seconds)

/** The time that the clocks of a zone show at a time in Unix seconds, in seconds since 1970-01-01 as these clocks count. */
export const localTimeOf = (zone: string, seconds: number): number => calendarOf(zone).localTimeOf(seconds)

/**
 * The first time, in Unix seconds, whose local date is that day. A day that a zone left out (Apia, 2011-12-30) begins where
 * the next one does, so that every day ends where the next one begins.
 */
export const startOfDay = (zone: string, day: number): number => calendarOf(zone).firstTimeAt(day * daySeconds)

/**
 * The first and the last time, in Unix seconds, at which the clocks of a zone show a time of a day. They differ in the hour by which clocks are
 * set back. A time that clocks are set forward over counts as shown when they are set.
 */
export const timesOfDay = (zone: string, day: number, secondsOfDay: number): { first: number; last: number } => {
  const calendar = calendarOf(zone)
  const local = day * daySeconds + secondsOfDay
  return { first: calendar.firstTimeAt(local), last: calendar.lastTimeAt(local) }
}

/** Formats a day as 2026-03-29. `toISOString` would cost more than finding the day. */
export function dateOf(number: number): string {
  const date = new Date(number * daySeconds * secondMs)
  return `${date.getUTCFullYear()}-${twoDigits(date.getUTCMonth() + 1)}-${twoDigits(date.getUTCDate())}`
}

const twoDigits = (number: number): string => (number < 10 ? `0${number}` : `${number}`)
