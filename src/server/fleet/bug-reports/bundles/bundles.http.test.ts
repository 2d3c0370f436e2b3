// Tests where log bundles are stored: several uploads at the same time, quota, downloads, and bundles of version 0.1.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import {
  bundle,
  commandFor,
  newOrgWithRoom,
  type OrgWithRoom,
  put,
  storedUploads,
} from '../../../../../test/support/devices/log-bundles.ts'
import type { TestDevice } from '../../../../../test/support/devices/test-device.ts'
import { engine, type Harness, startHarness } from '../../../../../test/support/harness.ts'
import { until } from '../../../../../test/support/program.ts'
import type { Services } from '../../../context/services.ts'
import { openDatabase } from '../../../db/open.ts'
import { findDeviceByCredential } from '../../endpoints/presence.ts'
import { BundleUploads } from '../upload.ts'
import { FolderStorage } from './folder-storage.ts'
import { moveOldBundles } from './move.ts'
import { chunkBytes, inChunks, RowStorage } from './row-storage.ts'
import type { BundleStorage } from './storage.ts'

let harness: Harness
let org: OrgWithRoom
beforeEach(async () => {
  harness = await startHarness()
  org = await newOrgWithRoom(harness)
})
afterEach(() => harness.close())

const folderOf = (services: Services) => new FolderStorage(services.db, join(harness.place.dataDir, 'bundles'))
const storageOf = (services: Services): BundleStorage =>
  engine === 'sqlite' ? folderOf(services) : new RowStorage(services.db, folderOf(services))

async function requestLogs() {
  const device = await org.newDevice()
  const supportId = await org.report([device])
  const { id, logs } = await commandFor(device, supportId)
  return { device, supportId, id, url: logs.uploadUrl as string, token: logs.uploadUrl.split('/').at(-1) as string }
}

const pathOf = (supportId: string, device: TestDevice) =>
  `/v1/orgs/${org.id}/bug_reports/${supportId}/files/${device.id}.log.gz`
const headersOf = () => ({ authorization: `Bearer ${org.key}` })
async function download(supportId: string, device: TestDevice): Promise<Buffer> {
  const answer = await fetch(harness.url + pathOf(supportId, device), { headers: headersOf() })
  expect(answer.status).toBe(200)
  return Buffer.from(await answer.arrayBuffer())
}

/** The services of another process on the same database. */
async function otherServices(): Promise<Services> {
  const { db } = await openDatabase(harness.place, { isLocked: true, mustExist: true, onError() {} })
  onTestFinished(() => db.close())
  return { ...harness.services, db }
}

/** The gzip stream of bytes that cannot be compressed. */
const incompressible = (bytes: number) => gzipSync(randomBytes(bytes), { level: 0 })

test('one of two uploads of a bundle at two nodes counts, and its content is downloaded', async () => {
  const { device, supportId, id, token } = await requestLogs()
  const nodes = engine === 'sqlite' ? [harness.services, harness.services] : [harness.services, await otherServices()]
  const found = await findDeviceByCredential(harness.services, device.id, device.credential)
  if (!found) throw new Error('the device is unknown')
  const contents = [incompressible(3 * chunkBytes), incompressible(3 * chunkBytes + 1000)]
  const streams = contents.map(() => new PassThrough())
  const uploads = nodes.map((services, i) =>
    new BundleUploads(services, storageOf(services), () => 1e9).upload(
      found,
      id,
      token,
      streams[i] as PassThrough,
      undefined,
    ),
  )
  const outcomes = Promise.allSettled(uploads)
  // Both have stored most of their content before either can finish.
  for (const [i, stream] of streams.entries()) stream.write((contents[i] as Buffer).subarray(0, -100))
  await until('both uploads have begun', async () => (await storedUploads(harness, org)).length === 2)
  for (const [i, stream] of streams.entries()) stream.end((contents[i] as Buffer).subarray(-100))
  const counted = (await outcomes).map((outcome) => outcome.status === 'fulfilled')
  expect(counted.filter(Boolean).length).toBe(1)
  const winner = contents[counted.indexOf(true)] as Buffer
  expect((await download(supportId, device)).equals(winner)).toBe(true)
  expect((await org.item(supportId)).size).toBe(String(winner.length))
  expect((await storedUploads(harness, org)).length, 'the loser has removed its own upload only').toBe(1)
})

test('an upload past the quota is refused with 503 before anything of it is stored, and what it reserved is free again', async () => {
  await harness.close()
  harness = await startHarness({ bundleQuotaGigabytes: 1 })
  org = await newOrgWithRoom(harness)
  const [first, second] = [await requestLogs(), await requestLogs()]
  const large = incompressible(1_200_000)
  expect((await put(harness, first.device, first.url, large)).status).toBe(200)
  const { db } = harness.services
  await db.systemTransaction(({ kysely }) =>
    kysely
      .updateTable('bundle_uploads')
      .set((e) => ({ bytes: e('bytes', '+', 998_000_000) }))
      .execute(),
  )
  const refused = await put(harness, second.device, second.url, large)
  expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([503, 'UNAVAILABLE', '300'])
  expect(refused.body.message).toContain('Raise bundle-quota, or shorten log-retention, with "roomkeeper settings set"')
  expect((await storedUploads(harness, org)).length).toBe(1)
  expect((await put(harness, second.device, second.url, bundle)).status, 'a small one still fits').toBe(200)
})

test('a bundle of many chunks comes back as it was, to a reader that pauses too', async () => {
  const { device, supportId, url } = await requestLogs()
  const content = incompressible(9 * chunkBytes + 17)
  expect((await put(harness, device, url, content)).status).toBe(200)
  expect((await download(supportId, device)).equals(content)).toBe(true)
  const pieces: Buffer[] = []
  for await (const piece of await openDownload(supportId, device)) {
    pieces.push(piece)
    if (pieces.length % 20 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  expect(Buffer.concat(pieces).equals(content)).toBe(true)
})

/** The answer is not read yet. */
const openDownload = (supportId: string, device: TestDevice) =>
  new Promise<Readable>((resolve, reject) => {
    get(harness.url + pathOf(supportId, device), { headers: headersOf(), agent: false }, resolve).once('error', reject)
  })

test('a download whose bundle is deleted ends: complete from a file, broken off from rows', async () => {
  const { device, supportId, url } = await requestLogs()
  const content = incompressible(24 * 1024 * 1024)
  expect((await put(harness, device, url, content)).status).toBe(200)
  const answer = await openDownload(supportId, device)
  const { db } = harness.services
  await db.systemTransaction(({ kysely }) => kysely.deleteFrom('bug_reports').execute())
  expect(await db.system.kysely.selectFrom('bundle_uploads').select('id').execute()).toEqual([])
  let received = 0
  let problem: unknown
  try {
    for await (const piece of answer) received += piece.length
  } catch (error) {
    problem = error
  }
  if (engine === 'sqlite') expect([received, problem]).toEqual([content.length, undefined])
  else {
    expect(problem).toMatchObject({ code: 'ECONNRESET' })
    // The sockets hold some of it, and the server a chunk or two: it does not read ahead of its reader.
    expect(received).toBeLessThan(content.length / 2)
  }
  expect((await org.call('GET', `/bug_reports/${supportId}`)).status).toBe(404)
  expect(harness.logged.filter((line) => Number(line.level) >= 50)).toEqual([])
})

test('pieces of any size become chunks of one size', async () => {
  const sizes = [0, 1, chunkBytes - 1, 5, 2 * chunkBytes, chunkBytes, 77]
  const pieces = sizes.map((size) => randomBytes(size))
  const chunks = await Array.fromAsync(inChunks(Readable.from(pieces)))
  expect(chunks.slice(0, -1).every((chunk) => chunk.length === chunkBytes)).toBe(true)
  expect(Buffer.concat(chunks).equals(Buffer.concat(pieces))).toBe(true)
})

/** Stores a bundle in the data folder, as version 0.1 did on both databases. */
async function storeOldBundle() {
  const { device, supportId, url } = await requestLogs()
  const { db } = harness.services
  expect((await put(harness, device, url)).status).toBe(200)
  const content = incompressible(2 * chunkBytes)
  const folder = join(harness.place.dataDir, 'bundles', String(org.org.key), supportId.replace('-', ''))
  const old = join(folder, `${device.id}.log.gz`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(old, content)
  await db.systemTransaction(async ({ kysely }) => {
    await kysely.updateTable('bug_report_items').set({ upload_id: null, size: content.length }).execute()
    await kysely.deleteFrom('bundle_uploads').execute()
  })
  return { device, supportId, content, old }
}

test('a bundle that version 0.1 stored in the data folder is downloaded', async () => {
  const { device, supportId, content } = await storeOldBundle()
  expect((await download(supportId, device)).equals(content)).toBe(true)
})

test.runIf(engine === 'postgres')('on PostgreSQL a bundle of the data folder is moved into rows, once', async () => {
  const { device, supportId, content, old } = await storeOldBundle()
  const { services } = harness
  const { db } = services
  const places = { folder: folderOf(services), rows: storageOf(services), log: pino({ level: 'silent' }) }
  const signal = new AbortController().signal
  await moveOldBundles(services, places, signal)
  expect(existsSync(old)).toBe(false)
  expect((await download(supportId, device)).equals(content)).toBe(true)
  await moveOldBundles(services, places, signal)
  expect((await db.system.kysely.selectFrom('bundle_uploads').selectAll().execute()).length).toBe(1)
})
