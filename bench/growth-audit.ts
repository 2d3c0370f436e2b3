// A page of the audit log when the log is long, beside the same page when it is not.
import { fillAudit } from './audit-fill.ts'
import { expectChain } from './audit-verify.ts'
import type { BenchOptions } from './bench.ts'
import type { Line } from './figures.ts'
import { withGround } from './fill.ts'
import { filledFolder } from './filled.ts'
import { growing } from './growing.ts'
import { serveHouse } from './house-server.ts'
import { HttpClient } from './http-client.ts'
import { requestOf } from './http-load.ts'
import { httpSide, type Target } from './http-sides.ts'

interface Log extends Target {
  readonly request: Buffer
}

export async function auditGrowth(options: BenchOptions): Promise<Line[]> {
  const { quick, ending } = options
  const logs: Log[] = []
  for (const entries of quick ? [2_000, 20_000] : [10_000, 1_000_000]) logs.push(await open(options, entries))
  // Only now: filling takes so long that the server would end connections that wait for it.
  const warmUp = quick ? 200 : 2_000
  const sides = await Promise.all(logs.map((log) => httpSide(ending, log, { request: log.request, warmUp })))
  return growing('a page of auditLogs', sides, options, quick ? 200 : 2_000)
}

/** Asked for the newest page of a window that has all of the log. */
async function open({ ending, profiles }: BenchOptions, entries: number): Promise<Log> {
  const name = `${entries.toLocaleString('en')} entries`
  const filled = await filledFolder(ending, 0)
  const { dataDir, org, key, house } = filled
  const newest = await withGround(dataDir, (ground) => fillAudit(ground, house, entries))
  await expectChain(['--data-dir', dataDir], ` ${entries} entries, verified`)
  const { child, url } = await serveHouse(ending, filled, profiles.flags(name))
  const path = `/v1/orgs/${org}/audit/logs?from=2000-01-01&to=${new Date(newest + 1).toISOString()}`
  await expectNewest(url, path, key, entries)
  return { name, child, url, request: requestOf('GET', path, { key }) }
}

async function expectNewest(url: string, path: string, key: string, entries: number): Promise<void> {
  const http = new HttpClient(url)
  const { logs, nextPageToken } = await http.json('GET', path, { key })
  http.close()
  if (logs.length !== 100 || logs[0].id !== `${entries}` || nextPageToken === '')
    throw new Error('that is no full page')
}
