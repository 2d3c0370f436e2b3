// The period that the audit log shows: some days of the viewer's time zone up to now, or two moments, as in the URL.
import { useEffect, useMemo, useState } from 'react'

/** Number of days up to the end of today. */
const presetDays = { today: 1, '7d': 7, '30d': 30 } as const
type Preset = keyof typeof presetDays
export type WindowChoice = Preset | 'custom'
const defaultPreset: Preset = '7d'

export interface AuditWindow {
  readonly choice: WindowChoice
  /** Unix milliseconds; `to` is exclusive. */
  readonly from: number
  readonly to: number
}

/** Midnight in the viewer's time zone, some days later or earlier. The calendar is used because a day can have 23 or 25 hours. */
function midnight(at: number, days = 0): number {
  const date = new Date(at)
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime()
}

const isPreset = (text: string | undefined): text is Preset => text !== undefined && Object.hasOwn(presetDays, text)

/** Text that is not a time is ignored. Without an end, the window stays open and shows new entries. */
function windowOf(from: string | undefined, to: string | undefined, now: number): AuditWindow {
  const start = Date.parse(from ?? '')
  const end = Date.parse(to ?? '')
  const tomorrow = midnight(now, 1)
  if (isPreset(from) || Number.isNaN(start)) {
    const choice = isPreset(from) ? from : defaultPreset
    return { choice, from: midnight(now, 1 - presetDays[choice]), to: tomorrow }
  }
  return { choice: 'custom', from: start, to: Number.isNaN(end) ? Math.max(tomorrow, start + 1) : end }
}

/** Returns the same window until midnight, so that the query key stays the same. */
export function useAuditWindow(from: string | undefined, to: string | undefined): AuditWindow {
  const [day, setDay] = useState(() => midnight(Date.now()))
  useEffect(() => {
    const timer = setTimeout(() => setDay(midnight(Date.now())), midnight(day, 1) - Date.now() + 100)
    return () => clearTimeout(timer)
  }, [day])
  return useMemo(() => windowOf(from, to, day), [from, to, day])
}

const twoDigits = (n: number) => String(n).padStart(2, '0')

/** The time in the format of an input of type datetime-local. */
export function dateTimeLocalText(at: number): string {
  const d = new Date(at)
  const date = [String(d.getFullYear()).padStart(4, '0'), twoDigits(d.getMonth() + 1), twoDigits(d.getDate())].join('-')
  return `${date}T${twoDigits(d.getHours())}:${twoDigits(d.getMinutes())}`
}
