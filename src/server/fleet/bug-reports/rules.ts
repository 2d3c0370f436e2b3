// Bug reports: one function for each operation. [contract 4.endpointsGenerateBugReport] [contract 6.bugReports]

import { dayMs } from '../../../contract/durations.ts'
import { StreamedAnswer } from '../../context/answers.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, mustFind, mustFindAll } from '../../core/failure.ts'
import type { Tx } from '../../db/handles.ts'
import { change } from '../../journal/audit/change.ts'
import type { ChangeResult } from '../../journal/audit/change-result.ts'
import { newCommandRows } from '../commands/new-commands.ts'
import { insertCommands, type NewCommand } from '../commands/store.ts'
import { commandEventDraft, newCommandViews } from '../commands/view.ts'
import { endpointRef } from '../endpoints/fields.ts'
import { requireVisibleGroups } from '../endpoints/pair-groups.ts'
import { listEndpointsById } from '../endpoints/store.ts'
import type { BundleStorage } from './bundles/storage.ts'
import { findFile, findReport, insertItems, insertReport, listItems } from './store.ts'
import { formatSupportId, makeSupportId, parseSupportId } from './support-id.ts'
import { reportView } from './view.ts'

/** Endpoints have this long to upload their logs. */
const uploadDeadlineMs = dayMs

export interface BugReportRequest {
  readonly endpointIds: readonly string[]
  readonly inCallLogs: boolean
  readonly retentionDays: number
}

export const endpointsGenerateBugReport = (ctx: RequestContext, request: BugReportRequest) =>
  change(ctx, 'endpointsGenerateBugReport', async (tx) => {
    const { result, ...entry } = await requestLogs(tx, ctx, request)
    const { supportId } = result
    return { ...entry, result: { supportId }, afterCommit: () => ctx.devices.wake(request.endpointIds) }
  })

/** Asks endpoints for their logs. The result has the commands. The caller wakes the devices after the commit. */
export async function requestLogs(
  tx: Tx,
  ctx: RequestContext,
  { endpointIds, inCallLogs, retentionDays }: BugReportRequest,
): Promise<ChangeResult<{ supportId: string; commands: readonly NewCommand[] }>> {
  const ids = [...new Set(endpointIds)]
  const endpoints = mustFindAll('body', 'endpoint', ids, await listEndpointsById(tx, { ids }))
  // The logs of a device tell of the devices that it is paired with.
  if (!tx.access.isEverything) await requireVisibleGroups(tx, ids)
  const now = ctx.clock.now()
  const id = await insertReportWithNewId(tx, now, now + retentionDays * dayMs, inCallLogs)
  const commands = newCommandRows('COLLECT_LOGS', endpoints)
  const payload = JSON.stringify({ supportId: formatSupportId(id), inCallLogs })
  const batch = { type: 'COLLECT_LOGS', payload, at: now, deadline: now + uploadDeadlineMs }
  await insertCommands(tx, batch, commands)
  tx.drafts.push(...newCommandViews(batch, commands).map((command) => commandEventDraft(command)))
  await insertItems(tx, { report: id, commands: commands.map((command) => command.id) })
  return {
    result: { supportId: formatSupportId(id), commands },
    target: endpointRef(endpoints[0]),
    after: { supportId: formatSupportId(id), uploadInCallLogs: inCallLogs },
    affected: endpoints.slice(1).map(endpointRef),
  }
}

/** A support ID has 40 random bits. If the organisation already has a report with the same one, another is tried. */
async function insertReportWithNewId(tx: Tx, at: number, expiresAt: number, inCallLogs: boolean): Promise<string> {
  for (;;) {
    const id = makeSupportId()
    const in_call_logs = inCallLogs ? 1 : 0
    if (await insertReport(tx, { id, created_at: at, expires_at: expiresAt, in_call_logs })) return id
  }
}

export async function bugReportsGet(ctx: RequestContext, supportId: string) {
  const report = await requireReport(ctx, supportId)
  return reportView(report, await listItems(ctx.db, { id: report.id }))
}

/** The requested name is only compared with the stored one, so it cannot lead to another path. */
export async function bugReportsFileGet(
  ctx: RequestContext,
  bundles: BundleStorage,
  supportId: string,
  name: string,
): Promise<StreamedAnswer> {
  const report = await requireReport(ctx, supportId)
  const endpointId = name.slice(0, name.indexOf('.'))
  const item = await findFile(ctx.db, { report: report.id, id: endpointId })
  const bundle =
    item?.file === name
      ? await bundles.open({ org: ctx.org.key, report: report.id, uploadId: item.upload_id, file: name })
      : undefined
  if (!item || !bundle) throw new Failure('NOT_FOUND', 'there is no such file in this bug report.')
  // A command accepts one upload, so the file of a command never changes.
  const etag = `"${item.operation_id}"`
  return new StreamedAnswer('application/gzip', name, bundle.content, { length: bundle.size, etag })
}

async function requireReport(ctx: RequestContext, supportId: string) {
  const id = parseSupportId(supportId)
  const report = id === undefined ? undefined : await findReport(ctx.db, { id })
  return mustFind(report, 'bug report with this support ID')
}
