// Measures one page of a long audit log; the baseline is a page of a short one.
import { fillAuditLog } from '../fixture/audit-log.ts'
import { copyFilledFolder } from '../fixture/data-folders.ts'
import { withServices } from '../fixture/services.ts'
import { HttpClient } from '../load/http-client.ts'
import { makeRequest } from '../load/http-load.ts'
import type { Row } from '../measure/figures.ts'
import { httpContender } from '../measure/http-comparison.ts'
import { compareSizes } from '../measure/size-comparison.ts'
import type { BenchOptions } from '../options.ts'
import { verifyAuditLog } from '../servers/audit-verify.ts'
import type { ComparedServer } from '../servers/bare.ts'
import { startServerOn } from '../servers/roomkeeper.ts'

interface AuditLogServer extends ComparedServer {
  readonly request: Buffer
}

export async function measureAuditLogGrowth(options: BenchOptions): Promise<Row[]> {
  const { quick, cleanup } = options
  const servers: AuditLogServer[] = []
  for (const entries of quick ? [2_000, 20_000] : [10_000, 1_000_000])
    servers.push(await startWithLog(options, entries))
  // Connections are opened after all logs are filled, which takes so long that the server would close idle ones.
  const warmUp = quick ? 200 : 2_000
  const contenders = await Promise.all(
    servers.map((server) => httpContender(cleanup, server, { request: server.request, warmUp })),
  )
  return compareSizes('one page of auditLogs', contenders, options, quick ? 200 : 2_000)
}

/** The request asks for the newest page of a time window that contains the whole log. */
async function startWithLog({ cleanup, profiles }: BenchOptions, entries: number): Promise<AuditLogServer> {
  const name = `${entries.toLocaleString('en')} entries`
  const folder = await copyFilledFolder(cleanup, 0)
  const { dataDir, org, key, organisation } = folder
  const newestMs = await withServices(dataDir, (services) => fillAuditLog(services, organisation, entries))
  await verifyAuditLog(['--data-dir', dataDir], ` ${entries} entries, verified`)
  const { process, url } = await startServerOn(cleanup, folder, profiles.nodeFlags(name))
  const path = `/v1/orgs/${org}/audit/logs?from=2000-01-01&to=${new Date(newestMs + 1).toISOString()}`
  await expectNewestPage(url, path, key, entries)
  return { name, process, url, request: makeRequest('GET', path, { key }) }
}

async function expectNewestPage(url: string, path: string, key: string, entries: number): Promise<void> {
  const http = new HttpClient(url)
  const { logs, nextPageToken } = await http.json('GET', path, { key })
  http.close()
  if (logs.length !== 100 || logs[0].id !== `${entries}` || nextPageToken === '') {
    throw new Error('The answer is not a full page that begins with the newest entry.')
  }
}
