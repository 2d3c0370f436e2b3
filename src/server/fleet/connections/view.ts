// Shows connection spans and their summary, as JSON and as CSV.
import type { Static } from 'typebox'
import { csvRow } from '../../../contract/csv.ts'
import type { SpanShape } from '../../../contract/fleet/connections.ts'
import { isoTime } from '../../core/clock.ts'
import { type Absence, availabilityOf } from './availability.ts'
import type { ConnectionWindow, EndpointHistory, HistorySpan } from './history.ts'

/** Cut at the window. `to` is absent for a connection that lasts, if the window reaches the present. */
export function spanView(
  endpointId: string,
  { since, until, why, followed_by }: HistorySpan,
  window: ConnectionWindow,
): SpanView {
  const isEnded = until !== undefined && until <= window.end
  const isPresent = until === undefined && window.reachesNow
  return {
    endpointId,
    from: isoTime(Math.max(since, window.from)),
    ...(!isPresent && { to: isoTime(isEnded ? until : window.end) }),
    ...(isEnded && why && { why }),
    ...(isEnded && followed_by !== null && { followedBy: followed_by }),
  }
}

type SpanView = Static<typeof SpanShape>

export const gapView = (endpointId: string, { period: [from, to], state }: Absence['excused'][number]) => ({
  endpointId,
  from: isoTime(from),
  to: isoTime(to),
  state,
})

/** Whether a span is read only because of the time after it. */
export const isBefore = ({ since, until }: HistorySpan, { from }: ConnectionWindow): boolean =>
  until !== undefined && until <= from && since < from

export const spansCsvHeader = csvRow(['endpointId', 'from', 'to', 'why', 'followedBy'])
export const spanCsvLine = ({ endpointId, from, to, why, followedBy }: SpanView): string =>
  csvRow([endpointId, from, to ?? '', why ?? '', followedBy ?? ''])

export const summaryView = (
  { id, knownFrom }: EndpointHistory,
  { from, end }: ConnectionWindow,
  absence: Absence,
  omittedSpans: number,
) => ({
  endpointId: id,
  ...(knownFrom !== undefined && { knownFrom: isoTime(knownFrom) }),
  ...availabilityOf(absence, [Math.max(from, knownFrom ?? end), end]),
  ...(omittedSpans > 0 && { omittedSpans }),
})
