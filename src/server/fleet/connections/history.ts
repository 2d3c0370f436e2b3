// Reads the connections of an endpoint in a window: the ended ones, and the one that the endpoint's row names.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { dayMs } from '../../../contract/durations.ts'
import type { ConnectionEnd } from '../../../contract/fleet/connections.ts'
import { refuseReversed } from '../../core/failure.ts'
import type { OrgReader } from '../../db/handles.ts'
import { type HistoryRow, listSpans } from './store.ts'

/** In milliseconds; it ends at the present at the latest. */
export interface ConnectionWindow {
  readonly from: number
  readonly end: number
  readonly reachesNow: boolean
  /** Spans that ended earlier may be deleted. The time is the beginning of a day, so that it does not differ in each answer. */
  readonly retainedFrom: number
}

export function connectionWindowOf(
  { from, to }: { readonly from: number; readonly to?: number },
  now: number,
  retentionSeconds: number,
): ConnectionWindow {
  refuseReversed({ from, to })
  const reachesNow = to === undefined || to >= now
  const retainedFrom = Math.ceil((now - retentionSeconds * 1000) / dayMs) * dayMs
  return { from, end: reachesNow ? now : to, reachesNow, retainedFrom }
}

export interface HistorySpan {
  readonly since: number
  /** Undefined while the connection lasts. */
  readonly until: number | undefined
  readonly why: ConnectionEnd | undefined
  /** Set if it ended because a server stopped: the device counted as reconnecting until then. */
  readonly unknown_until: number | null
}

export interface EndpointHistory {
  readonly id: string
  readonly number: number
  /** Undefined if the endpoint was never connected. */
  readonly knownFrom: number | undefined
  /** The connection in the endpoint's row, whose span is not written yet. */
  readonly unwritten: HistorySpan | undefined
  /** No span that begins earlier reaches into the window. */
  readonly readFrom: number
}

/**
 * An endpoint is known from its first connection on. If it has no spans because it has been disconnected since before they were
 * written, it is known from that disconnect on.
 */
export function endpointHistoryOf(row: HistoryRow, { from, retainedFrom }: ConnectionWindow): EndpointHistory {
  const firstAt = row.first_since ?? row.changed_at
  return {
    id: row.id,
    number: row.number,
    knownFrom: firstAt === null ? undefined : Math.max(firstAt, retainedFrom),
    unwritten: unwrittenSpanOf(row),
    readFrom: row.last_since ?? from,
  }
}

function unwrittenSpanOf({
  node_id,
  changed_at: since,
  connected,
  connection_time,
  unknown_until,
}: HistoryRow): HistorySpan | undefined {
  if (node_id === null || since === null) return undefined
  if (connected) return { since, until: undefined, why: undefined, unknown_until: null }
  return { since, until: connection_time ?? since, why: 'SERVER_ENDED', unknown_until }
}

const pageSizeRows = 1000

/** The oldest first. The first one may have ended before the window, if the time after it is unknown. */
export async function* readSpans(
  on: OrgReader,
  { number, unwritten, readFrom }: EndpointHistory,
  { from, end }: ConnectionWindow,
): AsyncGenerator<HistorySpan> {
  if (from >= end) return
  let last = readFrom - 1
  for (let isMore = true; isMore; ) {
    const rows = await listSpans(on, { endpoint: number, since: last + 1, before: end, limit: pageSizeRows })
    for (const row of rows) {
      if (row.until > from || row.since >= from || (row.unknown_until ?? 0) > from) yield row
      last = row.since
    }
    isMore = rows.length === pageSizeRows
    // SQLite answers synchronously, and other requests must have their turn.
    if (isMore) await nextTurn()
  }
  if (!unwritten || unwritten.since >= end || isOver(unwritten, from)) return
  // The connection may have ended, and its span been written, after the endpoint's row was read.
  if (unwritten.since > last) yield unwritten
}

const isOver = ({ until, unknown_until }: HistorySpan, at: number): boolean =>
  until !== undefined && until < at && (unknown_until ?? 0) <= at
