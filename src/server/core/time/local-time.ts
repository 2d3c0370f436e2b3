// Shows a time as the clocks of a time zone do.
import { dayOf } from './time-zone.ts'

/** "2026-11-17T22:28:43+01:00" */
export function localIsoTime(atMs: number, zone: string): string {
  const parts = partsOf(atMs, zone, {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'longOffset',
  })
  const offset = (parts.timeZoneName ?? '').replace('GMT', '') || '+00:00'
  return `${parts.year}-${parts.month}-${parts.day}T${parts.hour}:${parts.minute}:${parts.second}${offset}`
}

/** "22:28 (Lisbon)", or "17 Nov 22:28 (Lisbon)" if that was on another day than `nowMs`. */
export function localTimeText(atMs: number, zone: string, nowMs: number): string {
  const { day, month, hour, minute } = partsOf(atMs, zone, {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  })
  const isToday = dayOf(zone, Math.floor(atMs / 1000)) === dayOf(zone, Math.floor(nowMs / 1000))
  return `${isToday ? '' : `${day} ${month} `}${hour}:${minute} (${cityOf(zone)})`
}

/** "New York" for America/New_York. */
const cityOf = (zone: string): string => (zone.split('/').at(-1) ?? zone).replaceAll('_', ' ')

function partsOf(atMs: number, timeZone: string, options: Intl.DateTimeFormatOptions) {
  const format = new Intl.DateTimeFormat('en-GB', { ...options, timeZone, hourCycle: 'h23' })
  return Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, value]))
}
