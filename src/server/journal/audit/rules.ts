// Reads the audit log in pages, and exports a whole time window. [contract 4.auditLogs]
import { csvAnswer } from '../../context/csv-answer.ts'
import type { AnswerOf, InputOf } from '../../context/handlers.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { isoTime } from '../../core/clock.ts'
import { refuseReversed } from '../../core/failure.ts'
import {
  logPageSizeOf,
  maxLogPageEntries,
  type PagePosition,
  pageContext,
  pageTokenAt,
  positionOfPageToken,
} from '../../core/page-token.ts'
import { change } from './change.ts'
import { csvHeader, csvLine } from './csv.ts'
import { listWindow } from './store.ts'
import { entryView } from './view.ts'
import { entrySeenBy, type VisibleEntry } from './visible-entry.ts'

type Query = InputOf<'auditLogs'>['query']

/** A page ends early after this many entries, because few of them may be visible, or none. */
const maxEntriesPerPage = 5000

export async function auditLogs(
  ctx: RequestContext,
  query: Query,
  csv: boolean,
  headOnly: boolean,
): Promise<AnswerOf<'auditLogs'>> {
  const { from, to, pageSize, pageToken = '' } = query
  refuseReversed({ from, to })
  const size = logPageSizeOf(pageSize)
  if (csv) {
    // A HEAD request exports nothing.
    if (!headOnly) await recordExport(ctx, from, to)
    const batches = readVisible(ctx, from, to)
    return csvAnswer(query, { name: 'audit', header: csvHeader, batches, lineOf: csvLine })
  }

  const { secrets } = ctx
  const context = pageContext(ctx, 'audit log', from, to)
  const start = pageToken === '' ? { timestamp: to, seq: 0 } : positionOfPageToken(secrets, context, pageToken)
  const { entries, next } = await readPage(ctx, from, start, size)
  return { logs: entries.map(entryView), nextPageToken: next ? pageTokenAt(secrets, context, next) : '' }
}

/** `next` is the position of the last entry that was read; undefined if there are no more. */
async function readPage(
  ctx: RequestContext,
  from: number,
  start: PagePosition,
  size: number,
): Promise<{ entries: readonly VisibleEntry[]; next?: PagePosition }> {
  // Callers who see everything see every row, so that one query is enough.
  const limit = ctx.access.isEverything ? size + 1 : maxLogPageEntries
  const entries: VisibleEntry[] = []
  let before = start
  for (let read = 0; read < maxEntriesPerPage; read += limit) {
    const rows = await listWindow(ctx.db, { from, beforeTimestamp: before.timestamp, beforeSeq: before.seq, limit })
    for (const row of rows) {
      if (entries.length === size) return { entries, next: before }
      const entry = entrySeenBy(ctx.access, row)
      if (entry) entries.push(entry)
      before = row
    }
    if (rows.length < limit) return { entries }
  }
  return { entries, next: before }
}

/** The export is the only read with an audit entry, because it returns a whole window in one answer. */
const recordExport = (ctx: RequestContext, from: number, to: number): Promise<void> =>
  change(ctx, 'auditLogs', async () => ({
    result: undefined,
    target: { type: 'audit', id: ctx.org.id, name: 'audit log' },
    after: { from: isoTime(from), to: isoTime(to) },
  }))

/** Reads all entries of a window that the caller sees, the latest first, in batches. */
async function* readVisible(ctx: RequestContext, from: number, to: number): AsyncGenerator<VisibleEntry[]> {
  let before = { timestamp: to, seq: 0 }
  for (;;) {
    const rows = await listWindow(ctx.db, {
      from,
      beforeTimestamp: before.timestamp,
      beforeSeq: before.seq,
      limit: maxLogPageEntries,
    })
    const last = rows.at(-1)
    if (!last) return
    yield rows.map((row) => entrySeenBy(ctx.access, row)).filter((entry) => entry !== undefined)
    before = last
  }
}
