// Formats times in the viewer's time zone, with the local time of the room beside it where that differs.
import { Text, Tooltip } from '@mantine/core'
import { daySeconds, hourSeconds, minuteSeconds } from '../../../contract/durations.ts'

export const viewerTimeZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** Devices may report text that is not a time zone. */
export function isKnownTimeZone(name: string): boolean {
  try {
    return format(0, name, {}) !== ''
  } catch {
    return false
  }
}

const formats = new Map<string, Intl.DateTimeFormat>()
function format(at: number, zone: string, options: Intl.DateTimeFormatOptions): string {
  const name = JSON.stringify([zone, options])
  let known = formats.get(name)
  if (!known) {
    known = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone })
    formats.set(name, known)
  }
  return known.format(at)
}

const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const day = { day: 'numeric', month: 'short' } as const
const full = { weekday: 'short', ...day, year: 'numeric', ...clock, second: '2-digit', timeZoneName: 'short' } as const

const isSameDay = (a: number, b: number) =>
  format(a, viewerTimeZone, { dateStyle: 'short' }) === format(b, viewerTimeZone, { dateStyle: 'short' })

/** The time for today, else the date and the time. */
export function shortTime(at: number, now: number = Date.now()): string {
  if (isSameDay(at, now)) return format(at, viewerTimeZone, clock)
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear()
  return format(at, viewerTimeZone, { ...day, ...(!isThisYear && { year: 'numeric' }), ...clock })
}

/** "14:05:09", for today. */
export const clockTime = (at: number): string => format(at, viewerTimeZone, { ...clock, second: '2-digit' })

/** "14:05" for today, else "16 Nov, 14:05", on the clocks of the zone. */
export function zonedTime(at: number, zone: string, now: number = Date.now()): string {
  const isToday = format(at, zone, { dateStyle: 'short' }) === format(now, zone, { dateStyle: 'short' })
  return format(at, zone, isToday ? clock : { ...day, ...clock })
}

/** "14:05", on the clocks of the zone. */
export const zonedClock = (at: number, zone: string): string => format(at, zone, clock)

/** "Mon 16". */
export const zonedWeekday = (at: number, zone: string): string => format(at, zone, { weekday: 'short', day: 'numeric' })

/** The viewer's day, as 2026-03-02. */
export const localDay = (at: number): string => new Intl.DateTimeFormat('sv-SE').format(at)

export const fullTime = (at: number, zone: string = viewerTimeZone): string =>
  format(at, isKnownTimeZone(zone) ? zone : viewerTimeZone, full)

/** "Los Angeles", for America/Los_Angeles. */
export const zoneCity = (zone: string): string => (zone.split('/').at(-1) ?? zone).replaceAll('_', ' ')

/** The time in another time zone, such as "14:05 in Tokyo"; undefined if the viewer's clock shows the same. */
export function clockInZone(at: number, zone: string | undefined): string | undefined {
  if (
    !zone ||
    !isKnownTimeZone(zone) ||
    format(at, zone, { ...day, ...clock }) === format(at, viewerTimeZone, { ...day, ...clock })
  )
    return undefined
  const sameDay = format(at, zone, day) === format(at, viewerTimeZone, day)
  return `${format(at, zone, sameDay ? clock : { ...day, ...clock })} in ${zoneCity(zone)}`
}

interface DateTimeProps {
  readonly at: string | number
  /** The time zone of the place where it happened. */
  readonly zone?: string | undefined
  readonly full?: boolean
}

export function DateTime({ at, zone, full: inFull = false }: DateTimeProps) {
  const ms = typeof at === 'number' ? at : Date.parse(at)
  const elsewhere = clockInZone(ms, zone)
  return (
    <Tooltip label={[fullTime(ms), ...(elsewhere && zone ? [fullTime(ms, zone)] : [])].join(' · ')}>
      <time dateTime={new Date(ms).toISOString()}>
        {inFull ? fullTime(ms) : shortTime(ms)}
        {elsewhere && (
          <Text span c="dimmed" fz="xs">
            {' '}
            ({elsewhere})
          </Text>
        )}
      </time>
    </Tooltip>
  )
}

/** "3 min", "2 h", "5 days": the time since then. */
export function ageText(at: number, now: number = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000))
  if (seconds < minuteSeconds) return `${seconds} s`
  if (seconds < hourSeconds) return `${Math.round(seconds / minuteSeconds)} min`
  if (seconds < 2 * daySeconds) return `${Math.round(seconds / hourSeconds)} h`
  return `${Math.round(seconds / daySeconds)} days`
}
