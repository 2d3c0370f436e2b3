// Tests how bug reports expire: deadlines, upload addresses, deletion of old reports.

import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  commandFor,
  newOrgWithRoom,
  type OrgWithRoom,
  put,
  stored,
  storedFiles,
} from '../../../../test/support/devices/log-bundles.ts'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import { dayMs, hourMs } from '../../../contract/durations.ts'
import { deleteOldReports } from './retention.ts'
import { uploadUrl } from './upload.ts'

let harness: Harness
let org: OrgWithRoom
beforeEach(async () => {
  harness = await startHarness({ logRetention: 7 })
  org = await newOrgWithRoom(harness)
})
afterEach(() => harness.close())

const bundles = () => join(harness.place.dataDir, 'bundles')

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
  expect(storedFiles(harness, org)).toEqual([])
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
  expect(storedFiles(harness, org)).toEqual([])
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
  await deleteOldReports(harness.services, bundles())
  expect(storedFiles(harness, org).length).toBe(2)
  harness.clock.advance(hourMs)
  await deleteOldReports(harness.services, bundles())
  expect((await org.call('GET', `/bug_reports/${old}`)).status).toBe(404)
  expect((await org.call('GET', `/bug_reports/${old}/files/${device.id}.log.gz`)).status).toBe(404)
  expect((await org.item(young)).state).toBe('UPLOADED')
  const folder = young.replace('-', '')
  expect(stored(harness, org).sort()).toEqual([folder, `${folder}/${device.id}.log.gz`])
})

test('files that a crash left behind are deleted; files of others stay', async () => {
  const device = await org.newDevice()
  const supportId = await org.report([device])
  expect((await put(harness, device, (await commandFor(device, supportId)).logs.uploadUrl)).status).toBe(200)
  const own = join(bundles(), String(org.org.key))
  const folder = join(own, supportId.replace('-', ''))
  const at = (Date.now() - 2 * dayMs) / 1000
  const make = (path: string) => {
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, 'x')
    utimesSync(path, at, at)
    return path
  }
  const young = join(folder, 'young.part')
  writeFileSync(young, 'x')
  const gone = [
    make(join(folder, 'old.part')),
    make(join(own, 'AAAABBBB/x.log.gz')),
    make(join(bundles(), '999/AAAABBBB/x')),
  ]
  const remaining = [
    young,
    join(folder, `${device.id}.log.gz`),
    make(join(own, 'notes.txt')),
    make(join(bundles(), 'lost+found/x')),
  ]
  await deleteOldReports(harness.services, bundles())
  expect(gone.filter(existsSync)).toEqual([])
  expect(remaining.filter((path) => !existsSync(path))).toEqual([])
})
