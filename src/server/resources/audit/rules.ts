// Reads the audit log in pages, and exports a whole time window. [contract 4.auditLogs]
import type { Static } from 'typebox'
import type { AuditEntry } from '../../../contract/audit.ts'
import type { Actor, RequestContext } from '../../context/request-context.ts'
import { isoTime } from '../../core/clock.ts'
import { invalid } from '../../core/failure.ts'
import { pageSizeOf, pageTokenAt, positionOfPageToken } from '../../core/page-token.ts'
import { StreamedAnswer } from '../../http/answer.ts'
import type { AnswerOf, InputOf } from '../../http/handlers.ts'
import { change } from './change.ts'
import { csvHeader, csvLine } from './csv.ts'
import { type EntryRow, listWindow } from './store.ts'

type Query = InputOf<'auditLogs'>['query']

const defaultPageSize = 100
const maxPageSize = 1000

export async function auditLogs(
  ctx: RequestContext,
  query: Query,
  csv: boolean,
  headOnly: boolean,
): Promise<AnswerOf<'auditLogs'>> {
  const { from, to, pageSize, pageToken = '' } = query
  if (from > to) throw invalid([{ field: 'from', error: 'must not be after to' }])
  const size = pageSizeOf(pageSize, defaultPageSize, maxPageSize)
  if (csv) {
    // A HEAD request exports nothing.
    if (!headOnly) await recordExport(ctx, from, to)
    return new StreamedAnswer('text/csv; charset=utf-8', 'audit.csv', csvOf(ctx, from, to))
  }

  const { secrets } = ctx
  const context = `${ctx.org.id}/${from}/${to}`
  const start = pageToken === '' ? { timestamp: to, seq: 0 } : positionOfPageToken(secrets, context, pageToken)
  const rows = await listWindow(ctx.db, {
    from,
    beforeTimestamp: start.timestamp,
    beforeSeq: start.seq,
    limit: size + 1,
  })
  const shown = rows.slice(0, size)
  const last = shown.at(-1)
  return {
    logs: shown.map(entryOf),
    nextPageToken: last && rows.length > size ? pageTokenAt(secrets, context, last) : '',
  }
}

/** The export is the only read with an audit entry, because it returns a whole window at once. */
const recordExport = (ctx: RequestContext, from: number, to: number): Promise<void> =>
  change(ctx, 'auditLogs', async () => ({
    result: undefined,
    target: { type: 'audit', id: ctx.org.id, name: 'audit log' },
    after: { from: isoTime(from), to: isoTime(to) },
  }))

async function* csvOf(ctx: RequestContext, from: number, to: number): AsyncGenerator<string> {
  yield csvHeader
  let before = { timestamp: to, seq: 0 }
  for (;;) {
    const rows = await listWindow(ctx.db, {
      from,
      beforeTimestamp: before.timestamp,
      beforeSeq: before.seq,
      limit: maxPageSize,
    })
    const last = rows.at(-1)
    if (!last) return
    yield rows.map(csvLine).join('')
    before = last
  }
}

const entryOf = (row: EntryRow): Static<typeof AuditEntry> => ({
  id: String(row.seq),
  timestamp: isoTime(row.timestamp),
  category: row.category as 'USER' | 'DEVICE' | 'ORG',
  type: row.type,
  actor: { type: row.actor_type as Actor['type'], id: row.actor_id, name: row.actor_name },
  target: { type: row.target_type, id: row.target_id, name: row.target_name },
  details: JSON.parse(row.details),
  ...(row.request_id !== null && { requestId: row.request_id }),
  ...(row.ip !== null && { ip: row.ip }),
})
