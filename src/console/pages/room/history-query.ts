// What was measured in a room over a span of time, all pages of it. [contract 6.sensorHistory]
import { queryOptions } from '@tanstack/react-query'
import type { Interval } from '../../../contract/sensor-history.ts'
import type { HistoryBucket } from '../../parts/chart/buckets.ts'
import { client } from '../../session.ts'

export type SpanName = 'day' | 'week' | 'month'

interface SpanOfTime {
  readonly title: string
  readonly interval: Interval
  /** Seconds: of a bucket, and of all. */
  readonly step: number
  readonly length: number
  /** Hours that one row of the table stands for. */
  readonly rowHours: number
}

const day = 86_400
/** Some hundred points each: as many as a chart can show. */
export const spans: Readonly<Record<SpanName, SpanOfTime>> = {
  day: { title: 'Day', interval: '5m', step: 300, length: day, rowHours: 1 },
  week: { title: 'Week', interval: '15m', step: 900, length: 7 * day, rowHours: 6 },
  month: { title: 'Month', interval: '1h', step: 3600, length: 30 * day, rowHours: 24 },
}
export const spanOf = (text: string | undefined): SpanName =>
  text !== undefined && Object.hasOwn(spans, text) ? (text as SpanName) : 'day'

export interface History {
  readonly span: SpanName
  /** Unix seconds. */
  readonly from: number
  readonly to: number
  readonly buckets: readonly HistoryBucket[]
}

const largestPage = 3000

/** Its key is that of the operation, so that samples make it old; the window is that of the moment it is read. */
export const askHistory = (id: number, span: SpanName) =>
  queryOptions({
    queryKey: ['roomsSensorHistory', { id, span }],
    queryFn: async ({ signal }): Promise<History> => {
      const { interval, length, step } = spans[span]
      const now = Math.ceil(Date.now() / 1000)
      const from = now - length
      const query = { id, from: from * 1000, interval, pageSize: largestPage }
      const buckets: HistoryBucket[] = []
      let pageToken = ''
      do {
        const page = (await client().roomsSensorHistory({ ...query, ...(pageToken && { pageToken }) }, { signal })).body
        buckets.push(...(page.buckets ?? []))
        pageToken = page.nextPageToken
      } while (pageToken)
      // The server's clock may be ahead of the viewer's.
      const last = buckets.at(-1)
      return { span, from, to: Math.max(now, last ? Date.parse(last.start) / 1000 + step : now), buckets }
    },
  })
