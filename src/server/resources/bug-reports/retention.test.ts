// Time and bug reports: deadlines, addresses that expire, reports that are deleted.
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Harness, startHarness } from '../../../../test/support/harness.ts'
import {
  commandFor,
  newOrgWithRoom,
  type OrgWithRoom,
  put,
  stored,
  storedFiles,
} from '../../../../test/support/log-bundles.ts'
import { deleteOldReports } from './retention.ts'
import { uploadUrl } from './upload.ts'

const hour = 3_600_000
const day = 24 * hour

let house: Harness
let org: OrgWithRoom
beforeEach(async () => {
  house = await startHarness({ logRetention: 7 })
  org = await newOrgWithRoom(house)
})
afterEach(() => house.close())

const bundles = () => join(house.place.dataDir, 'bundles')

test('an endpoint that returns within 24 hours delivers', async () => {
  const device = await org.newDevice({ offline: true })
  const supportId = await org.report([device])
  house.clock.advance(day - 60_000)
  await device.connect()
  const { logs } = await commandFor(device, supportId)
  expect((await put(house, device, logs.uploadUrl)).status).toBe(200)
  expect((await org.item(supportId)).state).toBe('UPLOADED')
})

test('an endpoint that returns later is not asked, and its part of the report is EXPIRED', async () => {
  const device = await org.newDevice({ offline: true })
  const asked = await org.newDevice()
  const supportId = await org.report([device])
  const { id, logs } = await commandFor(asked, await org.report([asked]))
  house.clock.advance(day + 1000)
  // Refused at once, not only when somebody has noticed that it expired.
  const late = await put(house, asked, logs.uploadUrl)
  expect([late.status, late.body.code]).toEqual([400, 'FAILED_PRECONDITION'])
  expect(storedFiles(house, org)).toEqual([])
  await expect.poll(async () => (await org.item(supportId)).state, { timeout: 3000 }).toBe('EXPIRED')
  const told = asked.received.length
  await device.connect()
  await asked.publish('logs', { id, state: 'URL_WANTED' })
  // Whatever was to come would have come before this.
  await org.call('POST', '/endpoints/send_message', { body: { message: 'Hello.', endpointIds: [device.id, asked.id] } })
  const heard = () => [...device.received, ...asked.received.slice(told)].map((m) => m.body.type)
  await expect.poll(() => heard().length).toBeGreaterThanOrEqual(2)
  expect(new Set(heard())).toEqual(new Set(['MESSAGE']))
})

test('an address works for 24 hours; a new one is sent on request', async () => {
  const device = await org.newDevice()
  const supportId = await org.report([device])
  const { id } = await commandFor(device, supportId)
  house.clock.advance(-2 * hour)
  const old = uploadUrl(house.ground, org.org, id)
  house.clock.advance(2 * hour + 22 * hour + 1000)
  const reply = await put(house, device, old)
  expect([reply.status, reply.body.code]).toEqual([403, 'PERMISSION_DENIED'])
  expect(storedFiles(house, org)).toEqual([])
  await device.publish('logs', { id, state: 'URL_WANTED' })
  const again = await commandFor(device, supportId)
  expect((await put(house, device, again.logs.uploadUrl)).status).toBe(200)
  expect((await org.item(supportId)).state).toBe('UPLOADED')
})

test('a report goes with its files when its time is over, and no other does', async () => {
  const device = await org.newDevice()
  const old = await org.report([device])
  expect((await put(house, device, (await commandFor(device, old)).logs.uploadUrl)).status).toBe(200)
  house.clock.advance(day)
  const young = await org.report([device])
  expect((await put(house, device, (await commandFor(device, young)).logs.uploadUrl)).status).toBe(200)
  const { createdAt, expiresAt } = (await org.call('GET', `/bug_reports/${old}`)).body
  expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(7 * day)

  house.clock.advance(6 * day - hour)
  await deleteOldReports(house.ground, bundles())
  expect(storedFiles(house, org).length).toBe(2)
  house.clock.advance(hour)
  await deleteOldReports(house.ground, bundles())
  expect((await org.call('GET', `/bug_reports/${old}`)).status).toBe(404)
  expect((await org.call('GET', `/bug_reports/${old}/files/${device.id}.log.gz`)).status).toBe(404)
  expect((await org.item(young)).state).toBe('UPLOADED')
  const folder = young.replace('-', '')
  expect(stored(house, org).sort()).toEqual([folder, `${folder}/${device.id}.log.gz`])
})

test('what a crash left behind goes too; what is not ours stays', async () => {
  const device = await org.newDevice()
  const supportId = await org.report([device])
  expect((await put(house, device, (await commandFor(device, supportId)).logs.uploadUrl)).status).toBe(200)
  const own = join(bundles(), String(org.org.key))
  const folder = join(own, supportId.replace('-', ''))
  const at = (Date.now() - 2 * day) / 1000
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
  const kept = [
    young,
    join(folder, `${device.id}.log.gz`),
    make(join(own, 'notes.txt')),
    make(join(bundles(), 'lost+found/x')),
  ]
  await deleteOldReports(house.ground, bundles())
  expect(gone.filter(existsSync)).toEqual([])
  expect(kept.filter((path) => !existsSync(path))).toEqual([])
})
