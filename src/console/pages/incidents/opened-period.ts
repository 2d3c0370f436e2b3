// The days on which the incidents of the list opened, as in its address: a first and a last day in the time zone of the organisation.
import { addDays, daysTitle, dayTitle, isDay } from '../../domain/reports/report-days.ts'
import { timeOfWallClock } from '../../parts/text/zoned-time.ts'

export interface OpenedPeriod {
  readonly title: string
  /** The window as incidentsList takes it; without an end it lasts. */
  readonly window: { readonly from: number; readonly to?: number }
}

interface DaysInAddress {
  readonly from?: string
  readonly to?: string
}

/** Undefined if the address has no valid days. */
export function openedPeriodOf({ from, to }: DaysInAddress, zone: string): OpenedPeriod | undefined {
  if (!isDay(from)) return undefined
  const midnight = (day: string) => timeOfWallClock(Date.parse(day), zone)
  if (to === undefined) return { title: `since ${dayTitle(from)}`, window: { from: midnight(from) } }
  if (!isDay(to) || to < from) return undefined
  return { title: daysTitle(from, to), window: { from: midnight(from), to: midnight(addDays(to, 1)) } }
}
