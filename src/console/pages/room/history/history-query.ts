// Reads the sensor history of a room over a day up to a year, page by page. [contract 6.sensorHistory]

import { queryOptions } from '@tanstack/react-query'
import { daySeconds } from '../../../../contract/durations.ts'
import type { Interval } from '../../../../contract/sensors/sensor-history.ts'
import type { HistoryBucket } from '../../../parts/chart/buckets.ts'
import { client } from '../../../session.ts'

export type SpanName = 'day' | 'week' | 'month' | '6-weeks' | 'year'

interface SpanDefinition {
  readonly title: string
  /** The span in a sentence: in the last … */
  readonly period: string
  readonly interval: Interval
  /** Each bucket is this long. */
  readonly stepSeconds: number
  readonly lengthSeconds: number
  /** Each row of the table is this long. */
  readonly rowHours: number
}

/** Each span has a few hundred points, which is as many as a chart can show. */
export const spans: Readonly<Record<SpanName, SpanDefinition>> = {
  day: { title: 'Day', period: 'day', interval: '5m', stepSeconds: 300, lengthSeconds: daySeconds, rowHours: 1 },
  week: {
    title: 'Week',
    period: 'week',
    interval: '15m',
    stepSeconds: 900,
    lengthSeconds: 7 * daySeconds,
    rowHours: 6,
  },
  month: {
    title: 'Month',
    period: 'month',
    interval: '1h',
    stepSeconds: 3600,
    lengthSeconds: 30 * daySeconds,
    rowHours: 24,
  },
  '6-weeks': {
    ...{ title: '6 weeks', period: 'six weeks', interval: '1h', stepSeconds: 3600 },
    ...{ lengthSeconds: 42 * daySeconds, rowHours: 24 },
  },
  year: {
    ...{ title: 'Year', period: 'year', interval: '1d', stepSeconds: daySeconds },
    ...{ lengthSeconds: 365 * daySeconds, rowHours: 24 },
  },
}
export const parseSpan = (text: string | undefined): SpanName =>
  text !== undefined && Object.hasOwn(spans, text) ? (text as SpanName) : 'day'

export interface RoomHistory {
  readonly span: SpanName
  /** The window is in Unix seconds. */
  readonly from: number
  readonly to: number
  readonly buckets: readonly HistoryBucket[]
}

const maxPageSize = 3000

/** The key names the operation, so an event about samples invalidates the query. The window ends at the time of the read. */
export const historyQuery = (id: number, span: SpanName, zone: string) =>
  queryOptions({
    queryKey: ['roomsSensorHistory', { id, span, zone }],
    queryFn: async ({ signal }): Promise<RoomHistory> => {
      const { interval, lengthSeconds, stepSeconds } = spans[span]
      const now = Math.ceil(Date.now() / 1000)
      const from = now - lengthSeconds
      const query = { id, from: from * 1000, interval, timezone: zone, pageSize: maxPageSize }
      const buckets: HistoryBucket[] = []
      let pageToken = ''
      do {
        const page = (await client().roomsSensorHistory({ ...query, ...(pageToken && { pageToken }) }, { signal })).body
        buckets.push(...(page.buckets ?? []))
        pageToken = page.nextPageToken
      } while (pageToken)
      // The server's clock may be ahead of the viewer's.
      const last = buckets.at(-1)
      return { span, from, to: Math.max(now, last ? Date.parse(last.start) / 1000 + stepSeconds : now), buckets }
    },
  })
