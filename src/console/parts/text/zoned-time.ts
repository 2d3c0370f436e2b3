// Calendar days and clock times in any time zone, also across changes of clocks.
import { dayMs, hourMs } from '../../../contract/durations.ts'

const formats = new Map<string, Intl.DateTimeFormat>()
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
  const format = new Intl.DateTimeFormat('en-GB', { ...numeric, second: 'numeric', hourCycle: 'h23', timeZone: zone })
  formats.set(zone, format)
  return format
}

/** The digits that a clock in the zone shows, as a UTC time. */
export function wallClockMs(atMs: number, zone: string): number {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second)
}

/** The time at which a clock in the zone shows these digits. In the hour that is skipped, the time right after it. */
export function timeOfWallClock(wallMs: number, zone: string): number {
  const guessMs = wallMs - (wallClockMs(wallMs, zone) - wallMs)
  return guessMs - (wallClockMs(guessMs, zone) - wallMs)
}

export interface ZonedDay {
  /** Midnight of the day, as a UTC time with the same digits. */
  readonly wallMs: number
  readonly startMs: number
  /** 0 is Sunday. */
  readonly weekday: number
}

/** The days that have a part in the window. */
export function zonedDays(fromMs: number, toMs: number, zone: string): ZonedDay[] {
  const first = Math.floor(wallClockMs(fromMs, zone) / dayMs) * dayMs
  const days: ZonedDay[] = []
  for (let wallMs = first; ; wallMs += dayMs) {
    const startMs = timeOfWallClock(wallMs, zone)
    if (startMs >= toMs) return days
    days.push({ wallMs, startMs, weekday: new Date(wallMs).getUTCDay() })
  }
}

export interface TimeInterval {
  readonly fromMs: number
  readonly toMs: number
}

/** Monday to Friday; shown in charts, so that a value can be read as one of a working day. */
export const workingHours = { from: 8, to: 18 } as const

export const workingHoursIn = (fromMs: number, toMs: number, zone: string): TimeInterval[] =>
  zonedDays(fromMs, toMs, zone)
    .filter(({ weekday }) => weekday >= 1 && weekday <= 5)
    .map(({ wallMs }) => ({
      fromMs: timeOfWallClock(wallMs + workingHours.from * hourMs, zone),
      toMs: timeOfWallClock(wallMs + workingHours.to * hourMs, zone),
    }))
