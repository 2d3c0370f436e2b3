// Tests the upload of log bundles: who may upload, what is accepted, and that a refused upload leaves no file.
import { request } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { createGzip, gzipSync } from 'node:zlib'
import undici from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  bundle,
  commandFor,
  newOrgWithRoom,
  type OrgWithRoom,
  proofOf,
  put,
  storedUploads,
} from '../../../../test/support/devices/log-bundles.ts'
import type { TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, hasOneNode, startHarness } from '../../../../test/support/harness.ts'
import { maxBundleBytes } from '../../../contract/device/protocol.ts'
import type { ErrorBody } from '../../../contract/error.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

interface RequestedLogs {
  readonly org: OrgWithRoom
  readonly device: TestDevice
  readonly supportId: string
  readonly id: string
  readonly url: string
}

/** Makes a device that has received a command to upload its logs. */
async function requestLogs(org?: OrgWithRoom): Promise<RequestedLogs> {
  const place = org ?? (await newOrgWithRoom(harness))
  const device = await place.newDevice()
  const supportId = await place.report([device])
  const { id, logs } = await commandFor(device, supportId)
  return { org: place, device, supportId, id, url: logs.uploadUrl }
}

/** Expects that no file was stored, and that a valid bundle is still accepted. */
async function expectStillOpen({ org, device, supportId, url }: RequestedLogs) {
  expect(await storedUploads(harness, org)).toEqual([])
  expect((await org.item(supportId)).state).toBe('REQUESTED')
  expect((await put(harness, device, url)).status).toBe(200)
  expect((await org.item(supportId)).state).toBe('UPLOADED')
}

async function streamed(device: TestDevice, url: string, body: Readable) {
  const headers = { ...proofOf(device), 'content-type': 'application/octet-stream' }
  const reply = await undici.request(url, { method: 'PUT', headers, body })
  return { status: reply.statusCode, body: await reply.body.json() }
}

/** Makes an uncompressed gzip stream while it is read. */
function unpacked(bytes: number): Readable {
  const piece = Buffer.alloc(64 * 1024, 7)
  const pieces = function* () {
    for (let made = 0; made < bytes; made += piece.length) yield piece
  }
  return Readable.from(pieces()).pipe(createGzip({ level: 0 }))
}

/** Starts an upload that stalls after its first bytes. The test can watch and cut the connection. */
function hangingUpload({ device, url }: RequestedLogs) {
  const sending = request(url, { method: 'PUT', headers: proofOf(device) })
  const closed = new Promise<void>((resolve) => sending.on('close', resolve))
  const answered = new Promise<number | undefined>((resolve) => sending.on('response', (r) => resolve(r.statusCode)))
  sending.on('error', () => {})
  sending.write(bundle.subarray(0, 15))
  return { sending, closed, answered }
}
const parts = async (org: OrgWithRoom) => (await storedUploads(harness, org)).filter((name) => name.endsWith('.part'))

test('the device proves itself with its credential', async () => {
  const it = await requestLogs()
  const other = await it.org.newDevice({ offline: true })
  const path = new URL(it.url).pathname
  const proofs = [
    {},
    { authorization: `Bearer ${it.org.key}` },
    { authorization: 'Basic' },
    { authorization: `Basic ${btoa(it.device.id)}` },
    proofOf({ id: it.device.id, credential: other.credential }),
    proofOf({ id: it.device.id, credential: `${it.device.credential}x` }),
    proofOf({ id: '', credential: it.device.credential }),
  ]
  for (const headers of proofs) {
    const reply = await harness.call('PUT', path, { raw: bundle, headers })
    expect([reply.status, reply.body.code]).toEqual([401, 'UNAUTHENTICATED'])
    expect(reply.headers.get('www-authenticate')).toBe('Basic realm="roomkeeper"')
  }
  await expectStillOpen(it)
})

test('the address works for its own device alone', async () => {
  const it = await requestLogs()
  const sameOrg = await it.org.newDevice({ offline: true })
  const otherOrg = await (await newOrgWithRoom(harness)).newDevice({ offline: true })
  for (const device of [sameOrg, otherOrg]) {
    const reply = await put(harness, device, it.url)
    expect([reply.status, reply.body.code]).toEqual([404, 'NOT_FOUND'])
  }
  await expectStillOpen(it)
})

test('a made-up address or one of another operation is refused, and says how to get a new one', async () => {
  const it = await requestLogs()
  const token = it.url.split('/').at(-1) as string
  const foreign = (await requestLogs(it.org)).url.split('/').at(-1) as string
  const late = Buffer.from(token, 'base64url')
  late.writeUIntBE(2 ** 47, 0, 6)
  for (const wrong of [foreign, token.slice(0, -1), `${token}A`, late.toString('base64url'), 'x', '%00']) {
    const reply = await put(harness, it.device, it.url.replace(token, wrong))
    expect([reply.status, reply.body.code]).toEqual([403, 'PERMISSION_DENIED'])
    expect(reply.body.message).toContain('URL_WANTED')
  }
  for (const operation of ['0b0f3c52-6d3c-4c3e-8c55-0d5b5f0e8f10', 'x', '%00']) {
    expect((await put(harness, it.device, it.url.replace(it.id, operation))).status).toBe(404)
  }
  expect((await harness.call('GET', new URL(it.url).pathname, { headers: proofOf(it.device) })).status).toBe(405)
  expect(await parts(it.org)).toEqual([])
  expect((await put(harness, it.device, it.url, bundle, 'POST')).status).toBe(200)
})

test('the first complete upload counts, a second is refused', async () => {
  const it = await requestLogs()
  expect((await put(harness, it.device, it.url)).status).toBe(200)
  const before = await it.org.item(it.supportId)
  const again = await put(harness, it.device, it.url, gzipSync('something else, and longer'))
  expect([again.status, again.body.code]).toEqual([400, 'FAILED_PRECONDITION'])
  const receivedCount = it.device.received.length
  await it.device.publish('logs', { id: it.id, state: 'URL_WANTED' })
  expect(it.device.received.length).toBe(receivedCount)
  expect(await it.org.item(it.supportId)).toEqual(before)
  expect(await storedUploads(harness, it.org)).toEqual([
    expect.stringMatching(new RegExp(`^${it.supportId.replace('-', '')}/[0-9a-f-]{36}\\.log\\.gz$`)),
  ])
})

test('a new address is sent on request, also for an operation that the device has acknowledged', async () => {
  const it = await requestLogs()
  await it.device.publish('operation', { id: it.id, state: 'ACKNOWLEDGED' })
  harness.clock.advance(1000)
  await it.device.publish('logs', { id: it.id, state: 'URL_WANTED' })
  const again = await commandFor(it.device, it.supportId, it.url)
  expect(again).toMatchObject({ id: it.id, type: 'COLLECT_LOGS', logs: { inCallLogs: false } })
  // A report of UPLOADED without an upload changes nothing.
  await it.device.publish('logs', { id: it.id, state: 'UPLOADED' })
  await commandFor(it.device, it.supportId)
  await it.device.publish('operation', { id: it.id, state: 'SUCCEEDED' })
  const other = await it.org.newDevice()
  await other.publish('logs', { id: it.id, state: 'URL_WANTED' })
  expect(other.received).toEqual([])
  await expectStillOpen({ ...it, url: again.logs.uploadUrl })
})

test('a bundle must be a complete gzip stream', async () => {
  const it = await requestLogs()
  const broken = Buffer.from(bundle)
  broken.writeUInt32LE(0, broken.length - 8)
  const notGzip = [
    Buffer.from('plain text'),
    bundle.subarray(0, -4),
    broken,
    Buffer.concat([bundle, bundle.subarray(9)]),
  ]
  for (const bytes of [...notGzip, Buffer.alloc(0)]) {
    const reply = await put(harness, it.device, it.url, bytes)
    expect([reply.status, reply.body.code]).toEqual([400, 'INVALID_ARGUMENT'])
  }
  await expectStillOpen(it)
})

/** Writes the HTTP header of an upload. */
const head = ({ device, url }: RequestedLogs, length: number) =>
  [
    `PUT ${new URL(url).pathname} HTTP/1.1`,
    'Host: x',
    `Authorization: ${proofOf(device).authorization}`,
    `Content-Length: ${length}\r\n\r\n`,
  ].join('\r\n')

/** Opens a plain TCP connection. */
function connection({ url }: RequestedLogs) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  let answers = ''
  socket.on('data', (bytes) => {
    answers += bytes
  })
  return { socket, statuses: () => [...answers.matchAll(/HTTP\/1.1 (\d+)/g)].map((m) => Number(m[1])) }
}

test('a refusal reaches a sender that is still sending, and its connection lives on', async () => {
  const it = await requestLogs()
  const { socket, statuses } = connection(it)
  const bodyBytes = 20 * 1024 * 1024
  socket.write(head(it, bodyBytes))
  socket.write(Buffer.alloc(1024))
  await expect.poll(statuses).toEqual([400])
  socket.write(Buffer.alloc(bodyBytes - 1024))
  socket.write(head(it, bundle.length))
  socket.write(bundle)
  await expect.poll(statuses, { timeout: 5000 }).toEqual([400, 200])
  socket.destroy()
})

test('a bundle that says it is larger than 64 MiB is refused before a byte of it is sent', async () => {
  const it = await requestLogs()
  const { socket, statuses } = connection(it)
  socket.write(head(it, maxBundleBytes + 1))
  await expect.poll(statuses).toEqual([413])
  socket.destroy()
  await expectStillOpen(it)
})

test('a bundle that turns out larger than 64 MiB is refused, and no file remains', async () => {
  const it = await requestLogs()
  const reply = await streamed(it.device, it.url, unpacked(maxBundleBytes))
  expect([reply.status, (reply.body as ErrorBody).code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
  await expectStillOpen(it)
})

test('a large bundle of unknown length is accepted', async () => {
  const it = await requestLogs()
  const reply = await streamed(it.device, it.url, unpacked(5 * 1024 * 1024))
  expect(reply.status).toBe(200)
  expect(Number((await it.org.item(it.supportId)).size)).toBeGreaterThan(5 * 1024 * 1024)
})

test('an upload that breaks off leaves nothing', async () => {
  const it = await requestLogs()
  const { sending, closed } = hangingUpload(it)
  await expect.poll(async () => (await parts(it.org)).length, { timeout: 5000 }).toBe(1)
  sending.destroy()
  await closed
  await expect.poll(() => parts(it.org)).toEqual([])
  await expectStillOpen(it)
  expect(harness.logged.filter((line) => line.msg === 'request failed')).toEqual([])
})

// Only the node that has the connection that hangs can close it.
test.runIf(hasOneNode)('a device that begins again takes over from its upload that hangs', async () => {
  const it = await requestLogs()
  const { closed } = hangingUpload(it)
  await expect.poll(async () => (await parts(it.org)).length, { timeout: 5000 }).toBe(1)
  expect((await put(harness, it.device, it.url)).status).toBe(200)
  await closed
  expect((await storedUploads(harness, it.org)).length).toBe(1)
  expect((await it.org.item(it.supportId)).size).toBe(String(bundle.length))
})

test('one of many concurrent uploads is accepted, and its file is complete', async () => {
  const it = await requestLogs()
  const bundles = Array.from({ length: 8 }, (_, i) => gzipSync('log line\n'.repeat(10_000 * (i + 1))))
  const replies = await Promise.allSettled(bundles.map((bytes) => put(harness, it.device, it.url, bytes)))
  const counted = replies.flatMap((r, i) => (r.status === 'fulfilled' && r.value.status === 200 ? [bundles[i]] : []))
  expect(counted.length).toBe(1)
  const { file, size } = await it.org.item(it.supportId)
  const path = `/v1/orgs/${it.org.id}/bug_reports/${it.supportId}/files/${file}`
  const answer = await fetch(harness.url + path, { headers: { authorization: `Bearer ${it.org.key}` } })
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(counted[0])
  expect([size, (await storedUploads(harness, it.org)).length]).toEqual([String(counted[0]?.length), 1])
})

test('an upload for an endpoint that was unenrolled during it leaves no file', async () => {
  const it = await requestLogs()
  const { sending, answered } = hangingUpload(it)
  await expect.poll(async () => (await parts(it.org)).length, { timeout: 5000 }).toBe(1)
  expect((await it.org.call('DELETE', `/endpoints/${it.device.id}`)).status).toBe(200)
  sending.end(bundle.subarray(15))
  expect(await answered).toBe(400)
  expect(await storedUploads(harness, it.org)).toEqual([])
  expect((await it.org.item(it.supportId)).state).toBe('CANCELLED')
})
