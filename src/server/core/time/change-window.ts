// Says whether the rooms of a location may be changed at a time, and when they next may. [contract 12.window]
import type { WeeklyHours } from '../../../contract/weekly-hours.ts'
import { isWithinHours, nextTimeWithin } from './weekly-hours.ts'

/** A location without a window may be changed at any time. */
export const isInChangeWindow = (window: WeeklyHours | null, zone: string, atMs: number): boolean =>
  window === null || isWithinHours(window, zone, atMs)

interface RoomWindow {
  /** JSON, as in the row of a location; null for a location without a window, and for a room without a location. */
  readonly change_window: string | null
  /** The time zone of the location, or of the organisation. */
  readonly timezone: string
}

export const isRoomInChangeWindow = ({ change_window, timezone }: RoomWindow, atMs: number): boolean =>
  isInChangeWindow(change_window === null ? null : JSON.parse(change_window), timezone, atMs)

/** Returns the time itself if it is in the window, and otherwise when the window next begins. */
export const nextChangeTime = (window: WeeklyHours | null, zone: string, atMs: number): number =>
  window === null ? atMs : nextTimeWithin(window, zone, atMs)
