// Shows connection spans and their summary, as JSON and as CSV.
import { csvRow } from '../../../contract/csv.ts'
import { isoTime } from '../../core/clock.ts'
import { availabilityOf, type Period } from './availability.ts'
import type { ConnectionWindow, EndpointHistory, HistorySpan } from './history.ts'

/** Cut at the window. `to` is absent for a connection that lasts, if the window reaches the present. */
export function spanView(endpointId: string, { since, until, why }: HistorySpan, window: ConnectionWindow) {
  const isEnded = until !== undefined && until <= window.end
  const isPresent = until === undefined && window.reachesNow
  return {
    endpointId,
    from: isoTime(Math.max(since, window.from)),
    ...(!isPresent && { to: isoTime(isEnded ? until : window.end) }),
    ...(isEnded && why && { why }),
  }
}

export const spansCsvHeader = csvRow(['endpointId', 'from', 'to', 'why'])
export const spanCsvLine = ({ endpointId, from, to, why }: ReturnType<typeof spanView>): string =>
  csvRow([endpointId, from, to ?? '', why ?? ''])

export const summaryView = (
  { id, knownFrom }: EndpointHistory,
  { from, end }: ConnectionWindow,
  gaps: readonly Period[],
  omittedSpans: number,
) => ({
  endpointId: id,
  ...(knownFrom !== undefined && { knownFrom: isoTime(knownFrom) }),
  ...availabilityOf(gaps, [Math.max(from, knownFrom ?? end), end]),
  ...(omittedSpans > 0 && { omittedSpans }),
})
