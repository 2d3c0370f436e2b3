// Reads the sensor history of a room over a day up to three years, or over chosen days, page by page. [contract 6.sensorHistory]

import { queryOptions } from '@tanstack/react-query'
import { dayMs, daySeconds } from '../../../../contract/durations.ts'
import type { Interval } from '../../../../contract/sensors/sensor-history.ts'
import { addDays, daysTitle, isDay } from '../../../domain/reports/report-days.ts'
import type { HistoryBucket } from '../../../parts/chart/buckets.ts'
import { timeOfWallClock } from '../../../parts/text/zoned-time.ts'
import { client } from '../../../session.ts'

interface Resolution {
  readonly interval: Interval
  /** Each bucket is this long. */
  readonly stepSeconds: number
  /** Each row of the table is this long. */
  readonly rowHours: number
}
const fiveMinutes: Resolution = { interval: '5m', stepSeconds: 300, rowHours: 1 }
const quarters: Resolution = { interval: '15m', stepSeconds: 900, rowHours: 6 }
const hours: Resolution = { interval: '1h', stepSeconds: 3600, rowHours: 24 }
const days: Resolution = { interval: '1d', stepSeconds: daySeconds, rowHours: 24 }

interface SpanDefinition extends Resolution {
  readonly title: string
  /** The span in a sentence: in … */
  readonly phrase: string
  readonly lengthSeconds: number
}

/** Each span has a few hundred points, or a day for each. */
export const spans = {
  day: { ...fiveMinutes, title: 'Day', phrase: 'the last day', lengthSeconds: daySeconds },
  week: { ...quarters, title: 'Week', phrase: 'the last week', lengthSeconds: 7 * daySeconds },
  month: { ...hours, title: 'Month', phrase: 'the last month', lengthSeconds: 30 * daySeconds },
  '6-weeks': { ...hours, title: '6 weeks', phrase: 'the last six weeks', lengthSeconds: 42 * daySeconds },
  year: { ...days, title: 'Year', phrase: 'the last year', lengthSeconds: 365 * daySeconds },
  '3-years': { ...days, title: '3 years', phrase: 'the last three years', lengthSeconds: 3 * 365 * daySeconds },
} as const satisfies Readonly<Record<string, SpanDefinition>>
export type SpanName = keyof typeof spans

const parseSpan = (text: string | undefined): SpanName =>
  text !== undefined && Object.hasOwn(spans, text) ? (text as SpanName) : 'day'

/** The period that a history is about. Periods with the same id and zone are the same. */
export interface HistoryPeriod extends Resolution {
  readonly id: string
  /** Undefined for chosen days. */
  readonly span: SpanName | undefined
  readonly title: string
  readonly phrase: string
  readonly zone: string
  /** The window at a time, in Unix seconds. */
  readonly windowAt: (nowSeconds: number) => { readonly from: number; readonly to: number }
}

export interface PeriodInAddress {
  readonly span?: string
  /** The first and the last day, in the time zone of the room. */
  readonly from?: string
  readonly to?: string
}

interface Zones {
  readonly zone: string
  /** Days that are older than the quarters of an hour are kept in the time zone of the organisation only. */
  readonly ofOrg: string
}

/** Chosen days come before a span. */
export function historyPeriodOf({ span: text, from, to }: PeriodInAddress, { zone, ofOrg }: Zones): HistoryPeriod {
  if (isDay(from) && isDay(to) && from <= to) {
    const title = daysTitle(from, to)
    const [start, end] = [midnight(from, zone), midnight(addDays(to, 1), zone)]
    return {
      ...resolutionOf((Date.parse(to) - Date.parse(from)) / dayMs + 1),
      ...{ id: `${from}-to-${to}`, span: undefined, title, phrase: title, zone },
      windowAt: (now) => ({ from: start, to: Math.max(start, Math.min(end, now)) }),
    }
  }
  const span = parseSpan(text)
  const { lengthSeconds, ...ofSpan } = spans[span]
  return {
    ...ofSpan,
    ...{ id: span, span, zone: span === '3-years' ? ofOrg : zone },
    windowAt: (now) => ({ from: now - lengthSeconds, to: now }),
  }
}

const midnight = (day: string, zone: string): number => timeOfWallClock(Date.parse(day), zone) / 1000

/** Shorter buckets than a quarter of an hour are kept for some weeks only, and the days can be long ago. */
function resolutionOf(dayCount: number): Resolution {
  if (dayCount <= 2) return { ...quarters, rowHours: 1 }
  if (dayCount <= 14) return quarters
  return dayCount <= 92 ? hours : days
}

export interface RoomHistory {
  readonly period: HistoryPeriod
  /** The window is in Unix seconds. */
  readonly from: number
  readonly to: number
  readonly buckets: readonly HistoryBucket[]
}

const maxPageSize = 3000

/** The key names the operation, so an event about samples invalidates the query. A window up to now ends at the time of the read. */
export const historyQuery = (id: number, period: HistoryPeriod) =>
  queryOptions({
    queryKey: ['roomsSensorHistory', { id, period: period.id, zone: period.zone }],
    queryFn: async ({ signal }): Promise<RoomHistory> => {
      const { interval, stepSeconds, zone, windowAt } = period
      const now = Math.ceil(Date.now() / 1000)
      const { from, to } = windowAt(now)
      const window = { from: from * 1000, ...(to < now && { to: to * 1000 }) }
      const query = { id, ...window, interval, timezone: zone, pageSize: maxPageSize }
      const buckets: HistoryBucket[] = []
      let pageToken = ''
      do {
        const page = (await client().roomsSensorHistory({ ...query, ...(pageToken && { pageToken }) }, { signal })).body
        buckets.push(...(page.buckets ?? []))
        pageToken = page.nextPageToken
      } while (pageToken)
      // The server's clock may be ahead of the viewer's.
      const last = buckets.at(-1)
      const end = last && to >= now ? Date.parse(last.start) / 1000 + stepSeconds : to
      return { period, from, to: Math.max(to, end), buckets }
    },
  })
