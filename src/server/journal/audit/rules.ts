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
import { entryFilter, filtersIn, jobOf } from './entry-filter.ts'
import { type EntryRow, listWindow } from './store.ts'
import { entryView } from './view.ts'
import { entrySeenBy, type VisibleEntry } from './visible-entry.ts'

type Query = InputOf<'auditLogs'>['query']

/** A page ends early after this many entries were read, because few of them may be visible or match the filters, or none. */
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
    if (!headOnly) await recordExport(ctx, query)
    const batches = readShown(ctx, query)
    return csvAnswer(query, { name: 'audit', header: csvHeader, batches, lineOf: csvLine })
  }

  const { secrets } = ctx
  const filters = JSON.stringify(filtersIn(query))
  const folding = query.foldJobs ? ['fold jobs'] : []
  const context = pageContext(ctx, 'audit log', from, to, ...(filters === '{}' ? [] : [filters]), ...folding)
  const start = pageToken === '' ? { timestamp: to, seq: 0 } : positionOfPageToken(secrets, context, pageToken)
  const { entries, next } = await readPage(ctx, query, start, size)
  const logs = entries.map(({ entry, count }) => ({
    ...entryView(entry),
    ...(count !== undefined && { jobEntryCount: count }),
  }))
  return { logs, nextPageToken: next ? pageTokenAt(secrets, context, next) : '' }
}

/** Returns a function that gives an entry as the caller sees it; undefined if it is hidden, or if the query does not ask for it. */
function entriesFor({ access }: RequestContext, query: Query): (row: EntryRow) => VisibleEntry | undefined {
  const matches = entryFilter(query)
  return (row) => {
    const entry = entrySeenBy(access, row)
    return entry && (!matches || matches(entry)) ? entry : undefined
  }
}

interface PagedEntry {
  readonly entry: VisibleEntry
  /** How many entries of a job the page has in this one; undefined if jobs are not folded, and for entries of no job. */
  count?: number
}

/** `next` is the position of the last entry that was read; undefined if there are no more. */
async function readPage(
  ctx: RequestContext,
  query: Query,
  start: PagePosition,
  size: number,
): Promise<{ entries: readonly PagedEntry[]; next?: PagePosition }> {
  // Callers who see everything and filter nothing get every row, so one query is enough.
  const getsEveryRow = ctx.access.isEverything && Object.keys(filtersIn(query)).length === 0 && !query.foldJobs
  const limit = getsEveryRow ? size + 1 : maxLogPageEntries
  const entryFor = entriesFor(ctx, query)
  const entries: PagedEntry[] = []
  const ofJobs = new Map<string, PagedEntry>()
  let before = start
  for (let read = 0; read < maxEntriesPerPage; read += limit) {
    const rows = await listWindow(ctx.db, {
      from: query.from,
      beforeTimestamp: before.timestamp,
      beforeSeq: before.seq,
      limit,
    })
    for (const row of rows) {
      const entry = entryFor(row)
      const jobId = entry && query.foldJobs ? jobOf(entry) : undefined
      const newest = jobId === undefined ? undefined : ofJobs.get(jobId)
      if (newest) newest.count = (newest.count ?? 1) + 1
      else if (entries.length === size) return { entries, next: before }
      else if (entry) {
        const paged: PagedEntry = jobId === undefined ? { entry } : { entry, count: 1 }
        entries.push(paged)
        if (jobId !== undefined) ofJobs.set(jobId, paged)
      }
      before = row
    }
    if (rows.length < limit) return { entries }
  }
  return { entries, next: before }
}

/** The export is the only read with an audit entry, because it returns a whole window in one answer. */
const recordExport = (ctx: RequestContext, query: Query): Promise<void> =>
  change(ctx, 'auditLogs', async () => ({
    result: undefined,
    target: { type: 'audit', id: ctx.org.id, name: 'audit log' },
    after: { from: isoTime(query.from), to: isoTime(query.to), ...filtersIn(query) },
  }))

/** Reads all entries that a query asks for, the latest first, in batches. */
async function* readShown(ctx: RequestContext, query: Query): AsyncGenerator<VisibleEntry[]> {
  const entryFor = entriesFor(ctx, query)
  let before = { timestamp: query.to, seq: 0 }
  for (;;) {
    const rows = await listWindow(ctx.db, {
      from: query.from,
      beforeTimestamp: before.timestamp,
      beforeSeq: before.seq,
      limit: maxLogPageEntries,
    })
    const last = rows.at(-1)
    if (!last) return
    yield rows.map(entryFor).filter((entry) => entry !== undefined)
    before = last
  }
}
