// The clocks of time zones as Intl shows them, minute by minute, and the weekly hours that they make: apart from the code of the service.
import { type WeeklyHours, weekdays } from '../../../src/contract/weekly-hours.ts'

const [minuteSeconds, quarterSeconds, dayMinutes] = [60, 900, 1440]

/** Zones that change their clocks by an hour or half of one, at midnight too, or not at all. */
export const plainZones = [
  ...['Europe/Oslo', 'Europe/London', 'Europe/Lisbon', 'Europe/Chisinau', 'Africa/Cairo', 'Asia/Beirut'],
  ...['Asia/Kathmandu', 'America/New_York', 'America/Los_Angeles', 'America/St_Johns', 'America/Havana'],
  ...['America/Santiago', 'UTC', 'Australia/Sydney', 'Australia/Lord_Howe', 'Pacific/Auckland'],
  ...['Pacific/Chatham', 'Asia/Jerusalem', 'Asia/Tokyo', 'America/Asuncion'],
] as const

/** The minutes that the clock of a zone shows in a stretch of time, counted since 1970 as that clock counts. */
export class PlainClock {
  readonly firstMinute: number
  readonly shown: Int32Array

  /** In Unix seconds. */
  constructor(zone: string, from: number, to: number) {
    const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
    const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...parts })
    const firstQuarter = Math.floor(from / quarterSeconds)
    const count = Math.ceil(to / quarterSeconds) - firstQuarter
    this.firstMinute = firstQuarter * 15
    this.shown = new Int32Array(count * 15)
    // No clock changes within a quarter of an hour.
    for (let quarter = 0; quarter < count; quarter++) {
      const text = format.format((firstQuarter + quarter) * quarterSeconds * 1000)
      const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = (text.match(/\d+/g) ?? []).map(Number)
      const shown = Date.UTC(year, month - 1, day, hour, minute) / 60_000
      for (let i = 0; i < 15; i++) this.shown[quarter * 15 + i] = shown + i
    }
  }

  at(seconds: number): number {
    return this.shown[Math.floor(seconds / minuteSeconds) - this.firstMinute] as number
  }

  /**
   * Marks the minutes of weekly hours: from the first that shows the beginning, or a later time, to before the last that shows the end, or that
   * follows times before it.
   */
  marksOf({ days, from, to }: WeeklyHours): Uint8Array {
    const { shown } = this
    const marks = new Uint8Array(shown.length)
    const isOvernight = minutesOf(to) <= minutesOf(from)
    const [firstDay, lastDay] = [shown[0] as number, shown.at(-1) as number].map((m) => Math.floor(m / dayMinutes))
    for (let day = (firstDay as number) - 2; day <= (lastDay as number) + 1; day++) {
      if (!days.includes(weekdayOf(day))) continue
      const begin = day * dayMinutes + minutesOf(from)
      const end = (day + (isOvernight ? 1 : 0)) * dayMinutes + minutesOf(to)
      // A clock is never more than two hours off from one that goes on evenly from the start of the stretch.
      const near = (minute: number) => Math.max(0, Math.min(shown.length, minute - (shown[0] as number) - 120))
      let first = near(begin)
      while (first < shown.length && (shown[first] as number) < begin) first++
      let last = -1
      let after = near(end)
      for (let i = near(end); i < Math.min(shown.length, near(end) + 360); i++) {
        if (shown[i] === end) last = i
        if ((shown[i] as number) < end) after = i + 1
      }
      if (last >= 0) after = Math.max(last, after)
      if (first < after) marks.fill(1, first, after)
    }
    return marks
  }
}

const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
export const weekdayOf = (day: number) =>
  weekdays[(new Date(day * 86_400_000).getUTCDay() + 6) % 7] as (typeof weekdays)[number]
