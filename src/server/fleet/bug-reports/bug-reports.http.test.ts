// Tests the behaviour of bug reports through HTTP and real devices.

import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditAffected, auditTarget } from '../../../../test/support/devices/audited-endpoint.ts'
import {
  bundle,
  commandFor,
  filesInFolder,
  newOrgWithRoom,
  put,
  storedUploads,
} from '../../../../test/support/devices/log-bundles.ts'
import { engine, type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const download = (org: TestOrg, path: string, key = org.key, method = 'GET', headers = {}) =>
  fetch(`${harness.url}/v1/orgs/${org.id}/bug_reports/${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...headers },
  })

test('a connected endpoint gets the command at once, uploads, and its logs are downloaded by support ID [interface 6]', async () => {
  const org = await newOrgWithRoom(harness)
  const device = await org.newDevice()
  const supportId = await org.report([device])
  expect(supportId).toMatch(/^[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}$/)

  const command = await commandFor(device, supportId)
  const uploadUrl = expect.stringContaining(`${harness.publicUrl}/device/v1/logs/${command.id}/`)
  expect(command).toMatchObject({ type: 'COLLECT_LOGS', logs: { supportId, inCallLogs: false, uploadUrl } })
  const { body: before } = await org.call('GET', `/bug_reports/${supportId}`)
  expect(before).toMatchObject({ supportId, uploadInCallLogs: false })
  expect(Date.parse(before.expiresAt) - Date.parse(before.createdAt)).toBe(30 * 24 * 3_600_000)
  expect(before.endpoints).toEqual([
    {
      endpointId: device.id,
      serial: device.serial,
      model: device.model,
      state: 'REQUESTED',
      updatedAt: before.createdAt,
    },
  ])

  const reply = await put(harness, device, command.logs.uploadUrl)
  expect([reply.status, reply.text]).toEqual([200, '{}'])
  const receivedCount = device.received.length
  await device.publish('logs', { id: command.id, state: 'UPLOADED' })
  expect(device.received.length).toBe(receivedCount)
  const file = `${device.id}.log.gz`
  expect(await org.item(supportId)).toMatchObject({ state: 'UPLOADED', file, size: String(bundle.length) })
  expect((await org.call('GET', `/operations/${command.id}`)).body.state).toBe('SUCCEEDED')

  const answer = await download(org, `${supportId}/files/${file}`)
  expect(answer.status).toBe(200)
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(bundle)
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'application/gzip',
    'content-length': String(bundle.length),
    'content-disposition': `attachment; filename="${file}"`,
    'x-content-type-options': 'nosniff',
  })
  expect(answer.headers.get('content-encoding')).toBeNull()
  const etag = answer.headers.get('etag') ?? ''
  const again = await download(org, `${supportId}/files/${file}`, org.key, 'GET', { 'if-none-match': etag })
  expect([again.status, await again.text()]).toEqual([304, ''])
  const head = await download(org, `${supportId}/files/${file}`, org.key, 'HEAD')
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bundle.length)])
  // Other users of the machine cannot read the bundles.
  const paths = filesInFolder(harness, org).map((name) =>
    join(harness.place.dataDir, 'bundles', `${org.org.key}`, name),
  )
  const modes = paths.map((path) => statSync(path).mode & 0o777)
  expect(modes.sort()).toEqual(engine === 'sqlite' ? [0o600, 0o700] : [])
})

test('one audit entry names every endpoint of the report [contract 5.4.audit]', async () => {
  const org = await newOrgWithRoom(harness)
  const first = await org.newDevice({ offline: true })
  const second = await org.newDevice({ offline: true })
  const before = (await org.audit()).length
  const supportId = await org.report([second, first, second], '?uploadInCallLogs=true')
  const [entry, ...rest] = await org.audit()
  expect(rest.length).toBe(before)
  expect(entry).toMatchObject({
    category: 'DEVICE',
    type: 'DEVICE_LOGS_REQUESTED',
    target: auditTarget(second),
    details: {
      after: { supportId, uploadInCallLogs: true },
      affected: [auditAffected(first)],
    },
  })
})

test('a device that lost its power after it acknowledged gets the command once more, and only when it is back', async () => {
  const org = await newOrgWithRoom(harness)
  const device = await org.newDevice({})
  const supportId = await org.report([device])
  const { id } = await commandFor(device, supportId)
  await device.publish('operation', { id, state: 'ACKNOWLEDGED' })
  await org.call('POST', '/endpoints/send_message', { body: { message: 'Hello.', endpointIds: [device.id] } })
  expect((await device.next('operation')).type, 'a wake asks for nothing that is acknowledged').toBe('MESSAGE')
  device.drop()
  harness.clock.advance(1000)
  await device.connect()
  const again = await commandFor(device, supportId)
  expect(again.id).toBe(id)
  expect((await put(harness, device, again.logs.uploadUrl)).status).toBe(200)
  expect((await org.item(supportId)).state).toBe('UPLOADED')
})

test('an endpoint that is offline gets the command when it reconnects', async () => {
  const org = await newOrgWithRoom(harness)
  const device = await org.newDevice({ offline: true })
  const supportId = await org.report([device])
  await device.connect()
  const { logs } = await commandFor(device, supportId)
  expect((await put(harness, device, logs.uploadUrl)).status).toBe(200)
  expect((await org.item(supportId)).state).toBe('UPLOADED')
})

test('in-call logs are requested only with uploadInCallLogs=true', async () => {
  const org = await newOrgWithRoom(harness)
  const device = await org.newDevice()
  for (const [query, inCallLogs] of [
    ['', false],
    ['?uploadInCallLogs=false', false],
    ['?uploadInCallLogs=true', true],
  ] as const) {
    const supportId = await org.report([device], query)
    expect((await commandFor(device, supportId)).logs.inCallLogs).toBe(inCallLogs)
    expect((await org.call('GET', `/bug_reports/${supportId}`)).body.uploadInCallLogs).toBe(inCallLogs)
  }
  const reply = await org.call('POST', '/endpoints/generate_bug_report?uploadInCallLogs=yes', { body: [device.id] })
  expect([reply.status, reply.body.violations[0].field]).toEqual([400, 'uploadInCallLogs'])
})

test('ids that are unknown or of another organisation are named, each, and nothing is done', async () => {
  const org = await newOrgWithRoom(harness)
  const device = await org.newDevice()
  const foreign = await (await newOrgWithRoom(harness)).newDevice({ offline: true })
  const unknown = [randomUUID(), foreign.id, '', 'x\u0000', '\ud800']
  const before = await org.audit()
  const reply = await org.call('POST', '/endpoints/generate_bug_report', { body: [device.id, ...unknown] })
  expect([reply.status, reply.body.code, reply.body.violations.length]).toEqual([400, 'INVALID_ARGUMENT', 5])
  for (const id of unknown.slice(0, 2)) expect(reply.body.message).toContain(id)
  expect(reply.body.message).not.toContain(device.id)
  expect(await org.audit()).toEqual(before)
  expect((await org.call('GET', `/endpoints/${device.id}/operations`)).body.operations).toEqual([])
  expect(device.received.filter((m) => m.kind === 'operation')).toEqual([])
})

test('1 to 1000 ids, and repeating one changes nothing [contract 7.4]', async () => {
  const org = await newOrgWithRoom(harness)
  const device = await org.newDevice({ offline: true })
  const ask = (body: unknown) => org.call('POST', '/endpoints/generate_bug_report', { body })
  for (const body of [[], Array(1001).fill(device.id), { endpointIds: [device.id] }, [1], device.id]) {
    const reply = await ask(body)
    expect([reply.status, reply.body.code]).toEqual([400, 'INVALID_ARGUMENT'])
  }
  const { supportId } = (await ask(Array(1000).fill(device.id))).body
  expect((await org.call('GET', `/bug_reports/${supportId}`)).body.endpoints.length).toBe(1)
  expect((await org.call('GET', `/endpoints/${device.id}/operations`)).body.operations.length).toBe(1)
})

test('a support ID is found however it is typed, in its own organisation alone', async () => {
  const org = await newOrgWithRoom(harness)
  const supportId = await org.report([await org.newDevice({ offline: true })])
  const plain = supportId.replace('-', '')
  for (const typed of [plain, supportId.toLowerCase(), `%20${plain.slice(0, 3)}%20${plain.slice(3)}-`]) {
    const reply = await org.call('GET', `/bug_reports/${typed}`)
    expect([reply.status, reply.body.supportId]).toEqual([200, supportId])
  }
  const other = await newOrgWithRoom(harness)
  for (const path of [supportId, `${supportId}/files/x.log.gz`]) {
    expect((await other.call('GET', `/bug_reports/${path}`)).status).toBe(404)
  }
  for (const typed of ['AAAA-AAAA', plain.slice(1), `${plain}A`, '%00', '%F0%9F%98%80', '..']) {
    expect((await org.call('GET', `/bug_reports/${typed}`)).status).toBe(404)
  }
})

test('files need Write, and only what a report lists is a file', async () => {
  const org = await newOrgWithRoom(harness)
  const device = await org.newDevice()
  const silent = await org.newDevice({ offline: true })
  const supportId = await org.report([device, silent])
  expect((await put(harness, device, (await commandFor(device, supportId)).logs.uploadUrl)).status).toBe(200)
  const file = `${supportId}/files/${device.id}.log.gz`

  const reader = await org.newKey({ scopes: ['read'] })
  expect((await download(org, file, reader)).status).toBe(403)
  expect((await download(org, supportId, reader)).status).toBe(200)
  const writer = await org.newKey({ scopes: ['write'] })
  expect((await download(org, file, writer)).status).toBe(200)
  expect((await download(org, supportId, writer)).status).toBe(403)

  const [path] = await storedUploads(harness, org)
  const secret = encodeURIComponent('../../../secret.key')
  for (const name of [
    `${silent.id}.log.gz`,
    device.id,
    `${device.id}.log`,
    secret,
    encodeURIComponent(path ?? ''),
    '%00',
  ]) {
    const reply = await org.call('GET', `/bug_reports/${supportId}/files/${name}`)
    expect([name, reply.status]).toEqual([name, 404])
  }
})

test('a report shows what became of each endpoint, also of one that is gone', async () => {
  const org = await newOrgWithRoom(harness)
  const [failing, gone, done] = [await org.newDevice(), await org.newDevice(), await org.newDevice()]
  const supportId = await org.report([failing, gone, done])
  const { id } = await commandFor(failing, supportId)
  await failing.publish('operation', { id, state: 'FAILED', error: 'The disk is broken.' })
  expect((await put(harness, done, (await commandFor(done, supportId)).logs.uploadUrl)).status).toBe(200)
  for (const { id } of [gone, done]) expect((await org.call('DELETE', `/endpoints/${id}`)).status).toBe(200)

  const { endpoints } = (await org.call('GET', `/bug_reports/${supportId}`)).body
  const states = endpoints.map((e: Record<string, string>) => [e.endpointId, e.serial, e.model, e.state, e.error])
  const expected = [
    [failing.id, failing.serial, 'NF19B1', 'FAILED', 'The disk is broken.'],
    [gone.id, gone.serial, 'NF19B1', 'CANCELLED', undefined],
    [done.id, done.serial, 'NF19B1', 'UPLOADED', undefined],
  ]
  expect(states).toEqual(expected.sort(([a = ''], [b = '']) => (a < b ? -1 : 1)))
  expect((await download(org, `${supportId}/files/${done.id}.log.gz`)).status).toBe(200)
})
