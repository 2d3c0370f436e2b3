// Bug reports: one function for each operation. [contract 4.endpointsGenerateBugReport] [contract 6.bugReports]

import { randomUUID } from 'node:crypto'
import type { By } from '../../context/request-context.ts'
import { allFound, Failure, found } from '../../core/failure.ts'
import type { Tx } from '../../db/db.ts'
import { Streamed } from '../../http/answer.ts'
import { change } from '../audit/change.ts'
import { insertOperations } from '../commands/store.ts'
import { newOperationViews, operationDraft } from '../commands/view.ts'
import { listEndpointsById } from '../endpoints/store.ts'
import { endpointRef } from '../endpoints/view.ts'
import { openBundle } from './files.ts'
import { findFile, findReport, insertItems, insertReport, listItems } from './store.ts'
import { makeSupportId, parseSupportId, shownSupportId } from './support-id.ts'
import { reportView } from './view.ts'

const hour = 3_600_000
/** How long endpoints have to send their logs. */
const patience = 24 * hour

export interface Wish {
  readonly endpointIds: readonly string[]
  readonly inCallLogs: boolean
  readonly retentionDays: number
}

export async function endpointsGenerateBugReport(by: By, { endpointIds, inCallLogs, retentionDays }: Wish) {
  const wanted = [...new Set(endpointIds)]
  const supportId = await change(by, 'endpointsGenerateBugReport', async (tx) => {
    const endpoints = allFound('body', 'endpoint', wanted, await listEndpointsById(tx, by.org.key, wanted))
    const now = by.ground.clock.now()
    const id = await insertWithNewId(tx, by, now, now + retentionDays * 24 * hour, inCallLogs)
    const operations = endpoints.map((e) => ({ id: randomUUID(), endpoint_id: e.id, state: 'QUEUED' }))
    const operationIds = operations.map((o) => o.id)
    const payload = JSON.stringify({ supportId: shownSupportId(id), inCallLogs })
    const batch = { org: by.org.key, type: 'COLLECT_LOGS', payload, at: now, deadline: now + patience }
    await insertOperations(tx, batch, operations)
    tx.announced.push(...newOperationViews(batch, operations).map((o) => operationDraft(o)))
    await insertItems(tx, by.org.key, id, operationIds)
    return {
      result: shownSupportId(id),
      target: endpointRef(endpoints[0]),
      after: { supportId: shownSupportId(id), uploadInCallLogs: inCallLogs },
      affected: endpoints.slice(1).map(endpointRef),
    }
  })
  by.ground.devices.wake(wanted)
  return { supportId }
}

/** 40 random bits: two of the same in an organisation are unlikely, and cost a second throw. */
async function insertWithNewId(tx: Tx, by: By, at: number, expiresAt: number, inCallLogs: boolean): Promise<string> {
  for (;;) {
    const id = makeSupportId()
    const in_call_logs = inCallLogs ? 1 : 0
    if (await insertReport(tx, { org: by.org.key, id, created_at: at, expires_at: expiresAt, in_call_logs })) return id
  }
}

export async function bugReportsGet(by: By, supportId: string) {
  const report = await existing(by, supportId)
  return reportView(report, await listItems(by.ground.db, by.org.key, report.id))
}

/** The name is only compared: paths are made of what the tables hold. */
export async function bugReportsFileGet(by: By, folder: string, supportId: string, name: string): Promise<Streamed> {
  const report = await existing(by, supportId)
  const endpointId = name.slice(0, name.indexOf('.'))
  const item = await findFile(by.ground.db, by.org.key, report.id, endpointId)
  const bundle = item?.file === name ? await openBundle(folder, by.org.key, report.id, item.file) : undefined
  if (!item || !bundle) throw new Failure('NOT_FOUND', 'there is no such file in this bug report.')
  // One upload counts for each operation: what it brought never changes.
  const etag = `"${item.operation_id}"`
  return new Streamed('application/gzip', name, bundle.content, { length: bundle.size, etag })
}

async function existing(by: By, supportId: string) {
  const id = parseSupportId(supportId)
  const report = id === undefined ? undefined : await findReport(by.ground.db, by.org.key, id)
  return found(report, 'bug report with this support ID')
}
