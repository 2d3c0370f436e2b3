// Measures thirty days of history of one endpoint by the hour, and the disk space of a raw sample.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { rollUp } from '../../src/server/sensors/rollups/roll-up.ts'
import { fillEndpoints, sampleTimes, writeSamples } from '../fixture/samples.ts'
import { withServices } from '../fixture/services.ts'
import { HttpClient } from '../load/http-client.ts'
import type { Round } from '../measure/comparison.ts'
import { type Row, summarise } from '../measure/figures.ts'
import { measureOneByOne, StringifyBaseline } from '../measure/long-answers.ts'
import type { Bench } from '../options.ts'
import { enrolDevices, startServer } from '../servers/roomkeeper.ts'

const daySeconds = 86_400
const days = 30
const sampleIntervalSeconds = 60
const maxCpuMs = 5
const maxSampleBytes = 60

export const history: Bench = async ({ quick, profiles, cleanup }) => {
  const endpointCount = quick ? 1 : 20
  const rounds = quick ? 2 : 5
  const requests = quick ? 25 : 200
  const dataDir = cleanup.tempFolder()
  const first = await startServer(dataDir)
  cleanup.add(() => first.process.stop())
  const [device] = await enrolDevices(first, 1)
  await first.process.stop()

  // The period is two hours shorter than thirty days, so that its oldest samples are not too old when they are written.
  const end = Math.floor(Date.now() / 3_600_000) * 3600
  const start = end - days * daySeconds + 2 * 3600
  const samples = endpointCount * ((end - start) / sampleIntervalSeconds)
  const bytes = await withServices(dataDir, async (services) => {
    const connections = await fillEndpoints(services, endpointCount)
    const filesBefore = fileBytes(dataDir)
    await writeSamples(services, connections, sampleTimes(start, end, sampleIntervalSeconds))
    const table = tableBytes(dataDir)
    const files = fileBytes(dataDir) - filesBefore
    await rollUp(services)
    return { table, files, filesWithRollups: fileBytes(dataDir) - filesBefore }
  })

  const server = await startServer(dataDir, profiles.nodeFlags('ours'))
  cleanup.add(() => server.process.stop())
  const http = new HttpClient(server.url)
  cleanup.add(() => http.close())
  const iso = (seconds: number) => encodeURIComponent(new Date(seconds * 1000).toISOString())
  const path = `/v1/orgs/${first.org}/endpoints/${device?.id}/sensor/history`
  const query = `from=${iso(start)}&to=${iso(end)}&interval=1h&pageSize=1000`
  const getHistory = () => http.send('GET', `${path}?${query}`, first)
  const answer = await getHistory()
  const { buckets } = JSON.parse(answer.bytes.toString())
  const hours = (end - start) / 3600
  if (buckets.length !== hours) throw new Error(`The answer has ${buckets.length} buckets instead of ${hours}.`)
  await measureOneByOne(server.process, requests, getHistory)
  const baseline = new StringifyBaseline(cleanup, answer.bytes)
  const results: Round[] = []
  for (let round = 0; round < rounds; round++) {
    results.push(await profiles.during('ours', () => measureOneByOne(server.process, requests, getHistory)))
    await baseline.measure(requests)
  }
  await server.process.stop()

  const size = `${hours} buckets, ${Math.round(answer.bytes.length / 1024)} KiB`
  const diskRow = (title: string, total: number): Row => ({ title, unit: 'bytes', ours: summarise([total / samples]) })
  const historyRow = baseline.row(`${days} days of one endpoint, hourly (${size})`, results)
  const tableRow = diskRow(
    `disk per raw sample (${samples.toLocaleString('en')} samples): pages of table and indexes`,
    bytes.table,
  )
  return [
    { ...historyRow, goal: { text: `under ${maxCpuMs}`, isMet: historyRow.ours.median < maxCpuMs } },
    { ...tableRow, goal: { text: `at most ${maxSampleBytes}`, isMet: tableRow.ours.median <= maxSampleBytes } },
    diskRow('disk per raw sample: growth of the files, without rollups', bytes.files),
    diskRow('disk per raw sample: growth of the files, with all rollups', bytes.filesWithRollups),
  ]
}

/** Moves the write-ahead log into the database first, so that both are counted once. */
function fileBytes(dataDir: string): number {
  const db = new Database(join(dataDir, 'roomkeeper.db'))
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  return readdirSync(dataDir)
    .filter((name) => name.startsWith('roomkeeper.db'))
    .reduce((sum, name) => sum + statSync(join(dataDir, name)).size, 0)
}

/** Counts the pages of the table of raw samples and of all its indexes. */
function tableBytes(dataDir: string): number {
  const db = new Database(join(dataDir, 'roomkeeper.db'), { readonly: true })
  const sql = `SELECT sum(pgsize) AS size FROM dbstat WHERE aggregate = 1
    AND name IN (SELECT name FROM sqlite_schema WHERE tbl_name = 'samples')`
  const { size } = db.prepare(sql).get() as { size: number }
  db.close()
  return size
}
