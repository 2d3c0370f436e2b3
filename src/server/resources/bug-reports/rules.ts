// Bug reports: one function for each operation. [contract 4.endpointsGenerateBugReport] [contract 6.bugReports]

import { randomUUID } from 'node:crypto'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, mustFind, mustFindAll } from '../../core/failure.ts'
import type { Tx } from '../../db/handles.ts'
import { StreamedAnswer } from '../../http/answer.ts'
import { change } from '../audit/change.ts'
import { insertCommands } from '../commands/store.ts'
import { commandEventDraft, newCommandViews } from '../commands/view.ts'
import { listEndpointsById } from '../endpoints/store.ts'
import { endpointRef } from '../endpoints/view.ts'
import { openBundle } from './files.ts'
import { findFile, findReport, insertItems, insertReport, listItems } from './store.ts'
import { makeSupportId, parseSupportId, shownSupportId } from './support-id.ts'
import { reportView } from './view.ts'

const hour = 3_600_000
/** How long endpoints have to send their logs. */
const patience = 24 * hour

export interface BugReportRequest {
  readonly endpointIds: readonly string[]
  readonly inCallLogs: boolean
  readonly retentionDays: number
}

export async function endpointsGenerateBugReport(
  ctx: RequestContext,
  { endpointIds, inCallLogs, retentionDays }: BugReportRequest,
) {
  const wanted = [...new Set(endpointIds)]
  const supportId = await change(ctx, 'endpointsGenerateBugReport', async (tx) => {
    const endpoints = mustFindAll('body', 'endpoint', wanted, await listEndpointsById(tx, wanted))
    const now = ctx.clock.now()
    const id = await insertWithNewId(tx, ctx, now, now + retentionDays * 24 * hour, inCallLogs)
    const operations = endpoints.map((e) => ({ id: randomUUID(), endpoint_id: e.id, state: 'QUEUED' }))
    const operationIds = operations.map((o) => o.id)
    const payload = JSON.stringify({ supportId: shownSupportId(id), inCallLogs })
    const batch = { org: ctx.org.key, type: 'COLLECT_LOGS', payload, at: now, deadline: now + patience }
    await insertCommands(tx, batch, operations)
    tx.drafts.push(...newCommandViews(batch, operations).map((o) => commandEventDraft(o)))
    await insertItems(tx, { report: id, operations: operationIds })
    return {
      result: shownSupportId(id),
      target: endpointRef(endpoints[0]),
      after: { supportId: shownSupportId(id), uploadInCallLogs: inCallLogs },
      affected: endpoints.slice(1).map(endpointRef),
    }
  })
  ctx.devices.wake(wanted)
  return { supportId }
}

/** 40 random bits: two of the same in an organisation are unlikely, and cost a second throw. */
async function insertWithNewId(
  tx: Tx,
  ctx: RequestContext,
  at: number,
  expiresAt: number,
  inCallLogs: boolean,
): Promise<string> {
  for (;;) {
    const id = makeSupportId()
    const in_call_logs = inCallLogs ? 1 : 0
    if (await insertReport(tx, { id, created_at: at, expires_at: expiresAt, in_call_logs })) return id
  }
}

export async function bugReportsGet(ctx: RequestContext, supportId: string) {
  const report = await existing(ctx, supportId)
  return reportView(report, await listItems(ctx.db, { id: report.id }))
}

/** The name is only compared: paths are made of what the tables hold. */
export async function bugReportsFileGet(
  ctx: RequestContext,
  folder: string,
  supportId: string,
  name: string,
): Promise<StreamedAnswer> {
  const report = await existing(ctx, supportId)
  const endpointId = name.slice(0, name.indexOf('.'))
  const item = await findFile(ctx.db, report.id, endpointId)
  const bundle =
    item?.file === name ? await openBundle({ root: folder, org: ctx.org.key, report: report.id, name }) : undefined
  if (!item || !bundle) throw new Failure('NOT_FOUND', 'there is no such file in this bug report.')
  // One upload counts for each operation: what it brought never changes.
  const etag = `"${item.operation_id}"`
  return new StreamedAnswer('application/gzip', name, bundle.content, { length: bundle.size, etag })
}

async function existing(ctx: RequestContext, supportId: string) {
  const id = parseSupportId(supportId)
  const report = id === undefined ? undefined : await findReport(ctx.db, id)
  return mustFind(report, 'bug report with this support ID')
}
