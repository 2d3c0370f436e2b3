// Tests how bug reports expire: deadlines, upload addresses, deletion of old reports.

import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  commandFor,
  filesInFolder,
  newOrgWithRoom,
  type OrgWithRoom,
  put,
  storedUploads,
} from '../../../../test/support/devices/log-bundles.ts'
import { engine, type Harness, startHarness } from '../../../../test/support/harness.ts'
import { dayMs, hourMs } from '../../../contract/durations.ts'
import { FolderStorage } from './bundles/folder-storage.ts'
import { RowStorage } from './bundles/row-storage.ts'
import { insertUpload } from './bundles/store.ts'
import { deleteOldReports, sweepBundleFolder } from './retention.ts'
import { uploadUrl } from './upload.ts'

let harness: Harness
let org: OrgWithRoom
beforeEach(async () => {
  harness = await startHarness({ logRetentionDays: 7 })
  org = await newOrgWithRoom(harness)
})
afterEach(() => harness.close())

const bundles = () => join(harness.place.dataDir, 'bundles')
const folder = () => new FolderStorage(harness.services.db, bundles())
const storage = () => (engine === 'sqlite' ? folder() : new RowStorage(harness.services.db, folder()))

/** Runs the scheduled tasks once. */
async function clean(): Promise<void> {
  await deleteOldReports(harness.services, storage())
  await sweepBundleFolder(harness.services, folder())
}

test('an endpoint that returns within 24 hours delivers', async () => {
  const device = await org.newDevice({ offline: true })
  const supportId = await org.report([device])
  harness.clock.advance(dayMs - 60_000)
  await device.connect()
  const { logs } = await commandFor(device, supportId)
  expect((await put(harness, device, logs.uploadUrl)).status).toBe(200)
  expect((await org.item(supportId)).state).toBe('UPLOADED')
})

test('an endpoint that returns later gets no command, and its part of the report is EXPIRED', async () => {
  const device = await org.newDevice({ offline: true })
  const connected = await org.newDevice()
  const supportId = await org.report([device])
  const { id, logs } = await commandFor(connected, await org.report([connected]))
  harness.clock.advance(dayMs + 1000)
  // The upload is refused at the deadline, before the scheduled task marks the command as expired.
  const late = await put(harness, connected, logs.uploadUrl)
  expect([late.status, late.body.code]).toEqual([400, 'FAILED_PRECONDITION'])
  expect(await storedUploads(harness, org)).toEqual([])
  await expect.poll(async () => (await org.item(supportId)).state, { timeout: 3000 }).toBe('EXPIRED')
  const receivedCount = connected.received.length
  await device.connect()
  await connected.publish('logs', { id, state: 'URL_WANTED' })
  // Messages arrive in order, so a command for logs would have arrived before this message.
  await org.call('POST', '/endpoints/send_message', {
    body: { message: 'Hello.', endpointIds: [device.id, connected.id] },
  })
  const receivedTypes = () => [...device.received, ...connected.received.slice(receivedCount)].map((m) => m.body.type)
  await expect.poll(() => receivedTypes().length).toBeGreaterThanOrEqual(2)
  expect(new Set(receivedTypes())).toEqual(new Set(['MESSAGE']))
})

test('an address works for 24 hours; a new one is sent on request', async () => {
  const device = await org.newDevice()
  const supportId = await org.report([device])
  const { id } = await commandFor(device, supportId)
  harness.clock.advance(-2 * hourMs)
  const old = uploadUrl(harness.services, org.org, id)
  harness.clock.advance(2 * hourMs + 22 * hourMs + 1000)
  const reply = await put(harness, device, old)
  expect([reply.status, reply.body.code]).toEqual([403, 'PERMISSION_DENIED'])
  expect(await storedUploads(harness, org)).toEqual([])
  await device.publish('logs', { id, state: 'URL_WANTED' })
  const again = await commandFor(device, supportId)
  expect((await put(harness, device, again.logs.uploadUrl)).status).toBe(200)
  expect((await org.item(supportId)).state).toBe('UPLOADED')
})

test('an expired report is deleted with its files, and no other report is', async () => {
  const device = await org.newDevice()
  const old = await org.report([device])
  expect((await put(harness, device, (await commandFor(device, old)).logs.uploadUrl)).status).toBe(200)
  harness.clock.advance(dayMs)
  const young = await org.report([device])
  expect((await put(harness, device, (await commandFor(device, young)).logs.uploadUrl)).status).toBe(200)
  const { createdAt, expiresAt } = (await org.call('GET', `/bug_reports/${old}`)).body
  expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(7 * dayMs)

  harness.clock.advance(6 * dayMs - hourMs)
  await clean()
  expect((await storedUploads(harness, org)).length).toBe(2)
  harness.clock.advance(hourMs)
  await clean()
  expect((await org.call('GET', `/bug_reports/${old}`)).status).toBe(404)
  expect((await org.call('GET', `/bug_reports/${old}/files/${device.id}.log.gz`)).status).toBe(404)
  expect((await org.item(young)).state).toBe('UPLOADED')
  const [upload, ...others] = await storedUploads(harness, org)
  expect([upload?.split('/')[0], others]).toEqual([young.replace('-', ''), []])
  if (engine === 'sqlite') expect(filesInFolder(harness, org).sort()).toEqual([young.replace('-', ''), upload])
  else expect((await rowsOf('bundle_chunks')).length).toBe(1)
})

test('files that a crash left behind are deleted; files of others stay', async () => {
  const device = await org.newDevice()
  const supportId = await org.report([device])
  expect((await put(harness, device, (await commandFor(device, supportId)).logs.uploadUrl)).status).toBe(200)
  const own = join(bundles(), String(org.org.key))
  const ofReport = join(own, supportId.replace('-', ''))
  const at = (Date.now() - 2 * dayMs) / 1000
  const make = (path: string) => {
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, 'x')
    utimesSync(path, at, at)
    return path
  }
  const young = join(ofReport, 'young.part')
  mkdirSync(ofReport, { recursive: true })
  writeFileSync(young, 'x')
  const counted = filesInFolder(harness, org).filter((name) => name.endsWith('.log.gz'))
  expect(counted.length).toBe(engine === 'sqlite' ? 1 : 0)
  const gone = [
    make(join(ofReport, 'old.part')),
    make(join(own, 'AAAABBBB/x.log.gz')),
    make(join(bundles(), '999/AAAABBBB/x')),
  ]
  const remaining = [
    young,
    ...counted.map((name) => join(own, name)),
    make(join(own, 'notes.txt')),
    make(join(bundles(), 'lost+found/x')),
  ]
  await clean()
  expect(gone.filter(existsSync)).toEqual([])
  expect(remaining.filter((path) => !existsSync(path))).toEqual([])
})

const rowsOf = (table: 'bundle_chunks' | 'bundle_uploads') =>
  harness.services.db.system.kysely.selectFrom(table).select('org').execute()

test('an upload that its node gave up is deleted after an hour, and the one that counts is not', async () => {
  const device = await org.newDevice()
  const supportId = await org.report([device])
  const { logs, id } = await commandFor(device, supportId)
  const { db, clock } = harness.services
  const upload = { org: org.org.key, report: supportId.replace('-', ''), id: randomUUID() }
  const row = { id: upload.id, report: upload.report, endpoint: device.id, bytes: 5, at: clock.now() }
  await db.forOrg(org.org.key).bulkTransaction((tx) => insertUpload(tx, row))
  await storage().write(upload, Readable.from([Buffer.from('12345')]))
  expect((await put(harness, device, logs.uploadUrl)).status, id).toBe(200)
  harness.clock.advance(hourMs - 60_000)
  await clean()
  expect((await rowsOf('bundle_uploads')).length).toBe(2)
  harness.clock.advance(120_000)
  const taken = new Error('another node holds the task')
  let commits = 0
  // The task is taken after its first commit, which deletes expired reports.
  const held = db.guardedBy(async () => {
    if (commits++ > 0) throw taken
  })
  await expect(deleteOldReports({ ...harness.services, db: held }, storage())).rejects.toBe(taken)
  expect((await rowsOf('bundle_uploads')).length).toBe(2)
  await clean()
  expect((await rowsOf('bundle_uploads')).length).toBe(1)
  if (engine === 'sqlite') expect((await storedUploads(harness, org)).length).toBe(1)
  else expect((await rowsOf('bundle_chunks')).length).toBe(1)
  expect((await org.item(supportId)).state).toBe('UPLOADED')
})
