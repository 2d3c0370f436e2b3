// The address of the insights as the query of a report.
import { useMemo } from 'react'
import { todayIn } from '../../domain/reports/report-days.ts'
import { useSession } from '../../session.ts'
import { type InsightWindow, insightWindowOf, type WindowInAddress } from './insight-window.ts'

export interface InsightSearch extends WindowInAddress {
  readonly tab?: string
  readonly region?: string
  readonly location?: string
  readonly tag?: string
  readonly hours?: string
  /** Identifiers of the rooms that are side by side. */
  readonly rooms?: string
  /** The hour of the week whose rooms are shown. */
  readonly behind?: string
  /** Saves a table of the tab once: mails link to `csv` and `locations`. */
  readonly save?: string
}
export type ChangeSearch = (changes: { readonly [K in keyof InsightSearch]?: string | undefined }) => void

export const allHours = 'always'

export interface ReportFilter {
  readonly from: string
  readonly to?: string
  readonly regionId?: number
  readonly locationId?: number
  readonly tag?: string
  readonly hours?: string
}

const idOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined

export function reportFilterOf(search: InsightSearch, { from, to }: InsightWindow): ReportFilter {
  const [regionId, locationId] = [idOf(search.region), idOf(search.location)]
  return {
    from,
    ...(to !== undefined && { to }),
    ...(regionId !== undefined && { regionId }),
    ...(locationId !== undefined && { locationId }),
    ...(search.tag && { tag: search.tag }),
    ...(search.hours === allHours && { hours: allHours }),
  }
}

export function useInsightWindow(search: InsightSearch): { readonly window: InsightWindow; readonly today: string } {
  const { org } = useSession()
  const today = todayIn(org.timezone)
  const since = todayIn(org.timezone, Date.parse(org.createdAt))
  const { month, from, to } = search
  return useMemo(
    () => ({
      window: insightWindowOf({ ...(month && { month }), ...(from && { from }), ...(to && { to }) }, today, since),
      today,
    }),
    [month, from, to, today, since],
  )
}

/** At most so many rooms fit side by side. */
export const maxRoomsAside = 3

export const parseRooms = (text: string | undefined): readonly number[] =>
  [...new Set((text ?? '').split(',').flatMap((part) => idOf(part) ?? []))].slice(0, maxRoomsAside)
export const formatRooms = (ids: readonly number[]): string | undefined => ids.join(',') || undefined
