// Ten thousand latest samples are loaded, cached and sent without blocking other requests.
import { hash } from 'node:crypto'
import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { cpuLimitMs } from '../../../../test/support/long-form.ts'
import { shortestOfLongestTurns } from '../../../../test/support/longest-turn.ts'
import { rawFetch } from '../../../../test/support/raw-http.ts'
import { sensors } from '../../../contract/device/models.ts'
import type { SampleRow } from '../ingest/store.ts'
import { endpointsBulkSensorData, roomsBulkSensorData } from '../rules.ts'
import { columnOf } from '../scale.ts'
import { aggregate } from './aggregate.ts'
import { LatestSampleCache } from './cache.ts'

const now = Date.UTC(2026, 2, 2, 9) / 1000
const endpointCount = 10_000
const sampleOf = (n: number, timestamp = now - (n % 1200)): SampleRow => ({
  timestamp,
  co2: n % 3 === 0 ? null : n % 2000,
  humidity: n % 1001,
  illumination: n % 5 === 0 ? 0 : n,
  people: n % 12,
  temp: (n % 1250) - 400,
  voc: null,
  voc_index: n % 501,
  shutter_closed: [null, 0, 1][n % 3] ?? null,
})

let harness: Harness
let org: TestOrg
/** Sorted by id. */
let endpoints: { id: string; number: number }[]
const roomCount = 3
beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(now * 1000)
  org = await harness.newOrg()
  for (let i = 1; i <= roomCount; i++) await org.call('POST', '/rooms', { body: { name: `Room ${i}` } })
  const rows = Array.from({ length: endpointCount }, (_, i) => ({ room_id: 1 + (i % roomCount) }))
  endpoints = (await putEndpoints(harness, org, rows)).toSorted((a, b) => (a.id < b.id ? -1 : 1))
  await putSamples(endpoints.filter(hasSample).map(({ number }) => ({ endpoint: number, ...sampleOf(number) })))
})
afterAll(() => harness.close())

const hasSample = ({ number }: { number: number }) => number % 10 !== 0
const putSamples = (rows: readonly ({ endpoint: number } & SampleRow)[]) =>
  harness.services.db.systemTransaction(async ({ kysely }) => {
    for (let at = 0; at < rows.length; at += 1000) {
      const values = rows.slice(at, at + 1000).map((row) => ({ org: org.org.key, ...row }))
      await kysely.insertInto('samples_latest').values(values).execute()
    }
  })

/** A plain request: `fetch` and the harness take longer over an answer than the service does. */
const raw = (path: string, options?: Parameters<typeof rawFetch>[2]) =>
  rawFetch(`${harness.url}/v1/orgs/${org.id}${path}`, org.key, options)
const textOf = ({ bytes }: { bytes: Buffer }) => bytes.toString()

const shown = (row: SampleRow) => {
  const shutterClosed = row.shutter_closed === 1
  const sample = {
    co2: row.co2 ?? 0,
    humidity: (row.humidity ?? 0) / 10,
    illumination: row.illumination ?? 0,
    people: row.people ?? 0,
    temp: (row.temp ?? 0) / 10,
    voc: row.voc ?? 0,
    vocIndex: row.voc_index ?? 0,
    timestamp: String(row.timestamp),
    ShutterClosed: shutterClosed,
  }
  return { data: [sample], shutterClosed, measured: sensors.filter((sensor) => row[columnOf[sensor]] !== null) }
}

test('the event loop is not blocked while ten thousand samples are read, written and sent', async () => {
  const first = async () => {
    const latest = new LatestSampleCache(harness.services)
    await endpointsBulkSensorData(org.ctx, latest, {}, false)
    await roomsBulkSensorData(org.ctx, latest, {}, false)
  }
  const next = async () => {
    for (const path of ['/endpoints/sensor', '/rooms/sensor']) expect((await raw(path)).status).toBe(200)
  }
  for (const work of [first, next]) {
    expect(await shortestOfLongestTurns(cpuLimitMs(15), work)).toBeLessThan(cpuLimitMs(15))
  }
})

test('a long answer is what it would be in one piece, endpoint by endpoint and room by room', async () => {
  const answer = await raw('/endpoints/sensor')
  const text = JSON.stringify({
    data: endpoints.map((e) => ({ id: e.id, endpointData: hasSample(e) ? shown(sampleOf(e.number)) : null })),
  })
  expect(textOf(answer) === text).toBe(true)
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json',
    'content-length': String(text.length),
    etag: `W/"${hash('sha1', text, 'base64url')}"`,
  })
  const fresh = endpoints.filter(hasSample).map(({ number }) => ({ number, ...sampleOf(number) }))
  const rooms = Array.from({ length: roomCount }, (_, i) => {
    const inRoom = fresh.filter((s) => (s.number - 1) % roomCount === i && s.timestamp >= now - 900)
    return { id: i + 1, roomData: shown(aggregate(inRoom) as SampleRow) }
  })
  expect(JSON.parse(textOf(await raw('/rooms/sensor')))).toEqual({ data: rooms })
})

test('a long answer supports compression, HEAD and If-None-Match [contract 7.7] [contract 7.11]', async () => {
  const plain = await raw('/endpoints/sensor')
  for (const [encoding, decompress] of [
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const) {
    const small = await raw('/endpoints/sensor', { headers: { 'accept-encoding': encoding } })
    expect(small.headers).toMatchObject({ 'content-encoding': encoding, etag: plain.headers.etag })
    expect(decompress(small.bytes).equals(plain.bytes)).toBe(true)
  }
  const head = await raw('/endpoints/sensor', { method: 'HEAD' })
  expect([head.status, textOf(head)]).toEqual([200, ''])
  expect(head.headers).toMatchObject({ 'content-length': plain.headers['content-length'], etag: plain.headers.etag })
  for (const method of ['GET', 'HEAD']) {
    const known = await raw('/endpoints/sensor', { method, headers: { 'if-none-match': plain.headers.etag ?? '' } })
    expect([known.status, textOf(known)]).toEqual([304, ''])
  }
})

test('a client that disconnects in the middle of a long answer does not affect others', async () => {
  const address = `${harness.url}/v1/orgs/${org.id}/endpoints/sensor`
  await new Promise<void>((resolve, reject) => {
    const leaving = request(address, { headers: { authorization: `Bearer ${org.key}` } }, (response) => {
      response.once('data', () => response.destroy())
      response.once('close', resolve)
    })
    leaving.on('error', reject).end()
  })
  expect((await raw('/endpoints/sensor')).status).toBe(200)
})

test.each(['samples_latest', 'locations'])('when %s cannot be read, the next request tries again', async (table) => {
  const other = await harness.newOrg()
  await other.call('POST', '/rooms', { body: { name: 'Fjord' } })
  const [endpoint] = await putEndpoints(harness, other, [{ room_id: 1 }])
  const rename = (from: string, to: string) =>
    sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(harness.services.db.schema)
  const both = () => Promise.all(['/endpoints/sensor', '/rooms/sensor'].map((path) => other.call('GET', path)))
  await rename(table, 'elsewhere')
  const failed = await both()
  await rename('elsewhere', table)
  expect(failed.map(({ status, body }) => [status, body.code])).toEqual([
    [500, 'INTERNAL'],
    [500, 'INTERNAL'],
  ])
  expect((await both()).map(({ body }) => body.data)).toEqual([
    [{ id: endpoint?.id, endpointData: null }],
    [{ id: 1, roomData: null }],
  ])
})

test('the newest sample counts of those that arrive during the load, and at equal times the one in the database', async () => {
  const latest = new LatestSampleCache(harness.services)
  const [key, numbers] = [org.org.key, endpoints.filter(hasSample).map((e) => e.number)]
  const [newer, older, same, none] = [numbers[0], numbers.at(-1), numbers[5000], 10] as [number, number, number, number]
  latest.offer(key, newer, sampleOf(1, now + 60))
  const [reading, together] = [latest.samples(key), latest.samples(key)]
  latest.offer(key, newer, sampleOf(1, now + 30))
  latest.offer(key, older, sampleOf(1, now - 5000))
  latest.offer(key, same, sampleOf(1, sampleOf(same).timestamp))
  latest.offer(key, none, sampleOf(1, now - 5000))
  const samples = await reading
  const rowOf = (number: number) => {
    const { endpoint: _, ...row } = { endpoint: 0, ...samples.get(number)?.row }
    return row
  }
  expect(rowOf(newer)).toEqual(sampleOf(1, now + 30))
  expect(rowOf(older)).toEqual(sampleOf(older))
  expect(rowOf(same)).toEqual(sampleOf(same))
  expect(rowOf(none)).toEqual(sampleOf(1, now - 5000))
  expect([(await together) === samples, (await latest.samples(key)) === samples]).toEqual([true, true])
})

test('after clear() the samples and the plan are read again', async () => {
  const latest = new LatestSampleCache(harness.services)
  const other = await harness.newOrg()
  const before = [await latest.samples(other.org.key), await latest.plan(other.org.key)]
  latest.offer(other.org.key, 1, sampleOf(1))
  latest.clear()
  const after = [await latest.samples(other.org.key), await latest.plan(other.org.key)]
  expect(after[0]).toEqual(new Map())
  expect([after[0] === before[0], after[1] === before[1]]).toEqual([false, false])
})
