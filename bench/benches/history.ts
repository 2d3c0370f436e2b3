// Thirty days of one endpoint, hourly, and what a raw sample takes on disk.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { rollUp } from '../../src/resources/sensors/rollup.ts'
import type { Bench } from '../bench.ts'
import { fillEndpoints, timesFrom, withGround, writeSamples } from '../fixture/samples.ts'
import { HttpClient } from '../load/http-client.ts'
import type { Round } from '../measure/comparison.ts'
import { figure, type Line } from '../measure/figures.ts'
import { oneByOne, Stringified } from '../measure/long-answers.ts'
import { enrolDevices, startServer } from '../servers/roomkeeper.ts'

const day = 86_400
const days = 30
/** Seconds between two samples of an endpoint. */
const apart = 60

export const history: Bench = async ({ quick, profiles, ending }) => {
  const fleet = quick ? 1 : 20
  const rounds = quick ? 2 : 5
  const requests = quick ? 25 : 200
  const dataDir = ending.folder()
  const first = await startServer(dataDir)
  ending.add(() => first.child.stop())
  const [device] = await enrolDevices(first, 1)
  await first.child.stop()

  // Whole hours, a little less than thirty days: the oldest must not be too old when it is written.
  const end = Math.floor(Date.now() / 3_600_000) * 3600
  const start = end - days * day + 2 * 3600
  const samples = fleet * ((end - start) / apart)
  const sizes = await withGround(dataDir, async (ground) => {
    const sessions = await fillEndpoints(ground, fleet)
    const before = fileSize(dataDir)
    await writeSamples(ground, sessions, timesFrom(start, end, apart))
    const table = tableSize(dataDir)
    const raw = fileSize(dataDir) - before
    await rollUp(ground)
    return { table, raw, all: fileSize(dataDir) - before }
  })

  const server = await startServer(dataDir, profiles.flags('ours'))
  ending.add(() => server.child.stop())
  const http = new HttpClient(server.url)
  ending.add(() => http.close())
  const iso = (seconds: number) => encodeURIComponent(new Date(seconds * 1000).toISOString())
  const path = `/v1/orgs/${first.org}/endpoints/${device?.id}/sensor/history`
  const query = `from=${iso(start)}&to=${iso(end)}&interval=1h&pageSize=1000`
  const get = () => http.send('GET', `${path}?${query}`, first)
  const { bytes } = await get()
  const { buckets } = JSON.parse(bytes.toString())
  const hours = (end - start) / 3600
  if (buckets.length !== hours) throw new Error(`${buckets.length} buckets came, not ${hours}`)
  await oneByOne(server.child, requests, get)
  const limit = new Stringified(ending, bytes)
  const asked: Round[] = []
  for (let round = 0; round < rounds; round++) {
    asked.push(await profiles.during('ours', () => oneByOne(server.child, requests, get)))
    await limit.measure(requests)
  }
  await server.child.stop()

  const what = `${days} days of one endpoint, hourly (${hours} buckets, ${Math.round(bytes.length / 1024)} KiB)`
  const size = (name: string, value: number): Line => ({ what: name, unit: 'bytes', ours: figure([value / samples]) })
  const whole = limit.line(what, asked)
  const perSample = size(
    `a raw sample on disk, ${samples.toLocaleString('en')} of them: pages of its table and indexes`,
    sizes.table,
  )
  return [
    { ...whole, goal: { text: 'under 5', isMet: whole.ours.median < 5 } },
    { ...perSample, goal: { text: 'at most 60', isMet: perSample.ours.median <= 60 } },
    size('the same, by the growth of the files, before rollups', sizes.raw),
    size('the same with all rollups', sizes.all),
  ]
}

/** After everything that waits in the write-ahead log was moved to where it belongs. */
function fileSize(dataDir: string): number {
  const db = new Database(join(dataDir, 'roomkeeper.db'))
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  return readdirSync(dataDir)
    .filter((name) => name.startsWith('roomkeeper.db'))
    .reduce((sum, name) => sum + statSync(join(dataDir, name)).size, 0)
}

/** Pages of the table of raw samples and of whatever indexes it has. */
function tableSize(dataDir: string): number {
  const db = new Database(join(dataDir, 'roomkeeper.db'), { readonly: true })
  const sql = `SELECT sum(pgsize) AS size FROM dbstat WHERE aggregate = 1
    AND name IN (SELECT name FROM sqlite_schema WHERE tbl_name = 'samples')`
  const { size } = db.prepare(sql).get() as { size: number }
  db.close()
  return size
}
