// The window that the insights are about, as in the address: a month, or a first and a last day.
import { addDays, dayTitle, isDay, monthAndYear } from '../../domain/reports/report-days.ts'

export interface InsightWindow {
  /** A month such as 2026-10, or `days`. */
  readonly choice: string
  /** The first day, as reports take it: midnight of each location. */
  readonly from: string
  /** The day after the last one; undefined while the window lasts. */
  readonly to: string | undefined
  readonly title: string
}

export interface WindowInAddress {
  readonly month?: string
  readonly from?: string
  /** The last day, which is a part of the window. */
  readonly to?: string
}

export const ofDays = 'days'
/** The present month and the twelve before it. */
const offeredMonths = 13

/** The first day of the month that is so many months later or earlier. */
function addMonths(month: string, months: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number - 1 + months, 1)).toISOString().slice(0, 7)
}

const isMonth = (text: string | undefined): text is string => text !== undefined && isDay(`${text}-01`)

/**
 * Days are such as 2026-11-19. Without a choice, or with one that is not valid, the window is the month before, or the
 * present month of an organisation that was made in it and has nothing before.
 */
export function insightWindowOf(
  { month, from, to }: WindowInAddress,
  today: string,
  orgSince = '0000-01-01',
): InsightWindow {
  if (isDay(from) && isDay(to) && from <= to) {
    const title = from === to ? dayTitle(from) : `${dayTitle(from)} to ${dayTitle(to)}`
    return { choice: ofDays, from, to: to >= today ? undefined : addDays(to, 1), title }
  }
  const monthBefore = addMonths(today, -1)
  const first = orgSince.slice(0, 7)
  const chosen = isMonth(month) ? month : monthBefore < first ? today.slice(0, 7) : monthBefore
  const isPresent = today.startsWith(chosen)
  const title = monthAndYear(chosen)
  return {
    choice: chosen,
    from: `${chosen}-01`,
    to: isPresent ? undefined : `${addMonths(chosen, 1)}-01`,
    title: isPresent ? `${title} so far` : title,
  }
}

/** The months that can be chosen, the newest first. */
export const windowMonths = (today: string): readonly { readonly value: string; readonly label: string }[] =>
  Array.from({ length: offeredMonths }, (_, i) => {
    const { choice, title } = insightWindowOf({ month: addMonths(today, -i) }, today)
    return { value: choice, label: title }
  })
