// Measures reads and writes on PostgreSQL; the baseline is pg with the same statements behind node:http and aedes.
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { fillOrganisation } from '../fixture/organisation.ts'
import { withServices } from '../fixture/services.ts'
import { HttpClient } from '../load/http-client.ts'
import { cycle, makeRequest } from '../load/http-load.ts'
import type { Row } from '../measure/figures.ts'
import { baselineName, PostgresComparison, type PostgresSetup } from '../measure/postgres-comparison.ts'
import type { Bench, BenchOptions } from '../options.ts'
import { verifyAuditLog } from '../servers/audit-verify.ts'
import { PostgresCluster, runStatement } from '../servers/postgres-cluster.ts'
import { startServer } from '../servers/roomkeeper.ts'
import { Subprocess } from '../servers/subprocess.ts'

const endpointCount = 10_000
const formattedCount = endpointCount.toLocaleString('en')
const bareProgram = fileURLToPath(new URL('../bare/postgres.ts', import.meta.url))

export const postgres: Bench = async (options) => {
  let cluster: PostgresCluster
  try {
    cluster = await PostgresCluster.start(options.cleanup)
  } catch (error) {
    process.stdout.write(`The bench postgres is left out: ${(error as Error).message}\n`)
    return []
  }
  return measure(options, await startServers(options, cluster))
}

async function measure(options: BenchOptions, setup: PostgresSetup): Promise<Row[]> {
  const { quick } = options
  const { server, organisation } = setup
  const base = `/v1/orgs/${server.org}`
  const { key } = server
  const get = (path: string) => makeRequest('GET', base + path, { key })
  await expectSameAnswer(setup, `${base}/endpoints/${organisation.devices[0]?.id}`)
  await expectSameAnswer(setup, `${base}/endpoints`)

  const endpointRequests = organisation.devices.map(({ id }) => get(`/endpoints/${id}`))
  let created = 0
  const createRegion = () => makeRequest('POST', `${base}/regions`, { key, body: { name: `Region ${created++}` } })
  const window = new URLSearchParams({ from: '2026-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' })

  const comparison = new PostgresComparison(options, setup)
  const rows = [
    ...(await comparison.http(`endpointsGet, one of ${formattedCount} endpoints, first request for each`, {
      makeSource: () => cycle(endpointRequests),
      count: quick ? 1_200 : 1_600,
      warmUp: quick ? 1_500 : 2_000,
    })),
    ...(await comparison.http('endpointsGet, unchanged since the previous request', {
      makeSource: () => cycle(endpointRequests.slice(0, 1_000)),
      count: quick ? 1_200 : 8_000,
      warmUp: quick ? 1_000 : 5_000,
      // Our server answers from its cache, after a look at the commit numbers that waiting requests share.
      goal: 0.6,
    })),
    ...(await comparison.http(`endpointsBasicList of ${formattedCount}, unchanged`, {
      makeSource: () => get('/endpoints'),
      count: quick ? 3 : 20,
      warmUp: quick ? 5 : 10,
      connections: 1,
    })),
    ...(await comparison.changedList(
      `endpointsBasicList of ${formattedCount}, a room renamed before each request`,
      base,
      get('/endpoints'),
    )),
    ...(await comparison.http('regionsCreate, durable and audited', {
      makeSource: () => createRegion,
      count: quick ? 160 : 1_000,
      warmUp: quick ? 150 : 1_000,
    })),
    ...(await comparison.http('one page of auditLogs', {
      makeSource: () => get(`/audit/logs?${window}`),
      count: quick ? 160 : 2_000,
      warmUp: quick ? 100 : 500,
    })),
    ...(await comparison.samples()),
  ]
  await expectFullPages(setup, `${base}/audit/logs?${window}`)
  await server.process.stop()
  await setup.baseline.stop()
  await expectWritten(setup, created / 2, comparison.samplesPerContender)
  return rows
}

async function startServers({ cleanup, profiles }: BenchOptions, cluster: PostgresCluster): Promise<PostgresSetup> {
  const dataDir = cleanup.tempFolder()
  const ours = await cluster.createDatabase('ours')
  const first = await startServer(dataDir, [], ['--database-url', ours])
  cleanup.add(() => first.process.stop())
  await first.process.stop()
  const organisation = await withServices({ dataDir, databaseUrl: ours }, (services) =>
    fillOrganisation(services, endpointCount),
  )
  const copy = await cluster.createDatabase('bare', 'ours')
  for (const url of [ours, copy]) await runStatement(url, 'vacuum analyze')
  const baseline = new Subprocess('The baseline', [...profiles.nodeFlags(baselineName), bareProgram, copy])
  cleanup.add(() => baseline.stop())
  const [, port, mqttPort] = await baseline.waitForOutput(/listening on (\d+) and (\d+)/)
  const server = await startServer(dataDir, profiles.nodeFlags('ours'), ['--database-url', ours])
  cleanup.add(() => server.process.stop())
  return {
    cluster,
    server: { ...server, org: first.org, key: first.key },
    organisation,
    baseline,
    baselineUrl: `http://127.0.0.1:${port}`,
    baselineMqttPort: Number(mqttPort),
    databaseUrls: [ours, copy],
    dataDir,
  }
}

/** Returns the answers of both servers, ours first. */
function fetchBoth({ server, baselineUrl }: PostgresSetup, path: string): Promise<string[]> {
  return Promise.all(
    [server.url, baselineUrl].map(async (url) => {
      const http = new HttpClient(url)
      const { bytes } = await http.send('GET', path, { key: server.key })
      http.close()
      return bytes.toString()
    }),
  )
}

/** Both servers must give the same answer, apart from the order of keys; otherwise their work is not the same. */
async function expectSameAnswer(setup: PostgresSetup, path: string): Promise<void> {
  const [ours = '', baseline = ''] = await fetchBoth(setup, path)
  if (!isDeepStrictEqual(JSON.parse(ours), JSON.parse(baseline))) {
    throw new Error(`The answers to ${path} differ: ${ours.slice(0, 500)} and ${baseline.slice(0, 500)}`)
  }
}

/** Both servers have different audit entries, but their pages must be equally long and have the same fields. */
async function expectFullPages(setup: PostgresSetup, path: string): Promise<void> {
  const shapes = (await fetchBoth(setup, path)).map((text) => {
    const { logs } = JSON.parse(text)
    return `${logs.length} entries of ${Object.keys(logs[0]).join(', ')}`
  })
  if (shapes[0] !== shapes[1] || !shapes[0]?.startsWith('100 ')) {
    throw new Error(`The pages of the audit log differ or are not full: ${shapes.join('; ')}`)
  }
}

/** Everything that was answered or acknowledged must be in both databases, and our audit log must be intact. */
async function expectWritten(
  { databaseUrls, dataDir }: PostgresSetup,
  regions: number,
  samples: number,
): Promise<void> {
  for (const url of databaseUrls) {
    const [counts] = await runStatement(
      url,
      `select (select count(*)::int from regions) - 1 as regions, (select count(*)::int from samples) as samples,
         (select count(*)::int from audit_log where type = 'REGION_CREATED') as entries`,
    )
    const expected = JSON.stringify({ regions, samples, entries: regions })
    if (JSON.stringify(counts) !== expected) {
      throw new Error(`${expected} were sent, but the database has ${JSON.stringify(counts)}.`)
    }
  }
  await verifyAuditLog(['--data-dir', dataDir, '--database-url', databaseUrls[0] ?? ''])
}
