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
  /** Spans that ended earlier can be deleted. The time is the start of a day, so it does not differ in each answer. */
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
  /** The state of the endpoint after the end; null if that was not stored, or if the next connection followed immediately. */
  readonly followed_by: 'ASLEEP' | 'UNKNOWN' | 'OFFLINE' | null
  /** 1 if the device counted as asleep once its state was known. */
  readonly rested: number
  readonly overslept_at: number | null
  /** The gateway at the end. */
  readonly via: string | null
  /** The source of the device at the end. */
  readonly source_id: string | null
}

export interface EndpointHistory {
  readonly id: string
  readonly number: number
  /** Undefined if the endpoint was never connected. */
  readonly knownFrom: number | undefined
  /** The connection in the endpoint's row, whose span is not written yet. */
  readonly unwritten: HistorySpan | undefined
  /** No span that starts earlier reaches into the window. */
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

/** The connection that the row of an endpoint names, if its span is not written yet. */
export function unwrittenSpanOf({
  node_id,
  changed_at: since,
  connected,
  connection_time,
  unknown_until,
  rested,
  overslept_at,
  via,
  source_id,
}: Omit<HistoryRow, 'id' | 'number' | 'last_since' | 'first_since'>): HistorySpan | undefined {
  if (node_id === null || since === null) return undefined
  const after = { rested, overslept_at, via, source_id }
  if (connected) return { since, until: undefined, why: undefined, unknown_until: null, followed_by: null, ...after }
  const until = connection_time ?? since
  return { since, until, why: 'SERVER_ENDED', unknown_until, followed_by: 'UNKNOWN', ...after }
}

export const pageSizeRows = 1000

/** The oldest first. The first one may have ended before the window: it says what the time after it was. */
export async function* readSpans(
  on: OrgReader,
  { number, unwritten, readFrom }: Pick<EndpointHistory, 'number' | 'unwritten' | 'readFrom'>,
  { from, end }: Pick<ConnectionWindow, 'from' | 'end'>,
): AsyncGenerator<HistorySpan> {
  if (from >= end) return
  let last = readFrom - 1
  for (let isMore = true; isMore; ) {
    const rows = await listSpans(on, { endpoint: number, since: last + 1, before: end, limit: pageSizeRows })
    for (const row of rows) {
      yield row
      last = row.since
    }
    isMore = rows.length === pageSizeRows
    // SQLite answers synchronously, and other requests must have their turn.
    if (isMore) await nextTurn()
  }
  if (!unwritten || unwritten.since >= end) return
  // The connection can have ended, and its span been written, after the endpoint's row was read.
  if (unwritten.since > last) yield unwritten
}
