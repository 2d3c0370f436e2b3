// Tests event streams from their headers to their end: permissions, limits, and the causes of their end. [contract 6.events]
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { ApiError, makeClient } from '../../src/client/client.ts'
import { timeLimits } from '../../src/server/core/time-limits.ts'
import { openSession, own, session } from '../support/console/console-session.ts'
import { follow } from '../support/event-follower.ts'
import { type Harness, send, startHarness, type TestOrg } from '../support/harness.ts'
import { readMetrics, sumMetric } from '../support/nodes/metrics.ts'
import { newPerson, sessionHeaders } from '../support/person.ts'
import { siteForTest, until } from '../support/program.ts'
import { shortenLimits } from '../support/short-limits.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** The text of a stream as it comes. */
async function openRaw(url: string, org: string, key: string, query = '', headers = {}) {
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const answer = await fetch(`${url}/v1/orgs/${org}/events${query}`, {
    headers: { authorization: `Bearer ${key}`, ...headers },
    signal: stop.signal,
  })
  const heard = { answer, text: '', isEnded: false }
  const read = async () => {
    for await (const piece of answer.body ?? []) heard.text += Buffer.from(piece as Uint8Array).toString()
  }
  read().then(
    () => {
      heard.isEnded = true
    },
    () => {},
  )
  return heard
}

const createRegion = (org: TestOrg, name: string) => org.call('POST', '/regions', { body: { name } })

test('a stream begins with its position, is not compressed or kept, and writes an event as id, event, data', async () => {
  const org = await harness.newOrg()
  const raw = await openRaw(harness.url, org.id, org.key, '', { 'accept-encoding': 'gzip, br' })
  const { headers } = raw.answer
  expect(raw.answer.status).toBe(200)
  expect(headers.get('content-type')).toBe('text/event-stream')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('x-accel-buffering')).toBe('no')
  expect(headers.get('content-encoding')).toBeNull()
  expect(headers.get('x-request-id')).toMatch(/./)
  const hello = /^: \S.*\nretry: 2000\nid: ([0-9a-f]+)-0\n\n/
  await until('the first block', () => hello.test(raw.text))
  const [, boot] = hello.exec(raw.text) ?? []
  await createRegion(org, 'Région')
  await until('the event', () => raw.text.endsWith('}\n\n'))
  const data = raw.text.replace(hello, '')
  expect(data).toMatch(new RegExp(`^id: ${boot}-1\\nevent: structure\\ndata: {.*"name":"Région".*}\\n\\n$`))
})

test('HEAD gives the headers and ends', async () => {
  const org = await harness.newOrg()
  const head = await org.call('HEAD', '/events')
  expect(head.status).toBe(200)
  expect(head.headers.get('content-type')).toBe('text/event-stream')
  expect(head.headers.get('etag')).toBeNull()
})

test('an unknown type is a 400 that lists those that there are', async () => {
  const org = await harness.newOrg()
  for (const types of ['nonsense', 'sample,', '', 'sample,reset', 'sample,constructor']) {
    const { status, body } = await org.call('GET', `/events?types=${types}`)
    expect([status, body.code], types).toEqual([400, 'INVALID_ARGUMENT'])
    expect(body.violations).toEqual([
      {
        field: 'types',
        error:
          'must be some of connected, disconnected, status, sample, operation, config, structure, incident, job, separated by commas',
      },
    ])
  }
  expect((await org.call('GET', '/events?types=sample,%20status&roomId=x')).body.violations[0].field).toBe('roomId')
  expect((await org.call('GET', '/events?types=sample,%20status&roomId=77')).status).toBe(200)
})

test('a key without Read gets 403, and the client throws it', async () => {
  const org = await harness.newOrg()
  const token = await org.newKey({ scopes: ['write'] })
  const opened = follow(makeClient({ baseUrl: harness.url, org: org.id, token }))
  const error = await opened.then(
    () => undefined,
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({ status: 403, body: { code: 'PERMISSION_DENIED' } })
})

test('a key can have 50 streams, others have theirs, and who leaves makes room', async () => {
  const org = await harness.newOrg()
  const other = await org.newKey({ scopes: ['read'] })
  // Each node has a limit of its own, so all streams are at one node.
  const [node = ''] = harness.nodeUrls
  const clientOf = (token: string) => makeClient({ baseUrl: node, org: org.id, token })
  const open = () => send(node, 'GET', `/v1/orgs/${org.id}/events`, { key: org.key })
  const readers = await Promise.all(Array.from({ length: 50 }, () => follow(clientOf(org.key), { types: 'structure' })))
  const refused = await open()
  expect([refused.status, refused.body.code]).toEqual([429, 'RESOURCE_EXHAUSTED'])
  expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  await follow(clientOf(other))
  expect((await send(node, 'GET', '/metrics')).text).toMatch(/^roomkeeper_event_streams 5[1-9]$/m)
  const countSent = () => sumMetric(harness, 'roomkeeper_events_sent_total')
  const sentBefore = await countSent()
  await createRegion(org, 'Heard by all')
  for (const reader of readers) await reader.next('structure')
  expect(await countSent()).toBe(sentBefore + 51)
  readers[0]?.leave()
  await until('room for another', async () => (await open()).status === 200)
})

test('all sessions and keys of a person share 50 streams [contract 7.12] [contract 11.user]', async () => {
  const org = await harness.newOrg()
  const person = await newPerson(harness, org, { role: 'viewer', allRegions: true })
  const cookie = sessionHeaders(harness, person)
  // Each node has a limit of its own, so all streams are at one node.
  const [node = ''] = harness.nodeUrls
  const path = `/v1/orgs/${org.id}/events`
  const client = makeClient({ baseUrl: node, org: org.id, token: person.key })
  await Promise.all(Array.from({ length: 49 }, () => follow(client, { types: 'structure' })))
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const last = await fetch(`${node}${path}`, { headers: cookie, signal: stop.signal })
  expect(last.status).toBe(200)
  for (const caller of [{ key: person.key }, { key: false as const, headers: cookie }]) {
    const refused = await send(node, 'GET', path, caller)
    expect([refused.status, refused.body.message]).toEqual([429, expect.stringContaining('You have 50 event streams')])
  }
  const other = await newPerson(harness, org, { role: 'viewer', allRegions: true })
  expect((await send(node, 'GET', path, { key: other.key })).status).toBe(200)
})

test('a stream that the other nodes cannot be told of is a 503, and the next one begins when they can', async () => {
  // The node must hear its own message within 2.1 s instead of 3.
  const cutOff = await startHarness({}, { limits: shortenLimits(0.1).limits })
  onTestFinished(() => cutOff.close())
  const org = await cutOff.newOrg()
  const { bus } = cutOff.services
  const sending = vi.spyOn(bus, 'send').mockImplementation(() => {})
  const [node = ''] = cutOff.nodeUrls
  const refused = await send(node, 'GET', `/v1/orgs/${org.id}/events`, { key: org.key })
  expect([refused.status, refused.body.code]).toEqual([503, 'UNAVAILABLE'])
  expect(refused.headers.get('retry-after')).toBe('2')
  sending.mockRestore()
  const reader = await follow(org.client)
  await org.call('POST', '/regions', { body: { name: 'Heard' } })
  await reader.next('structure')
  expect(reader.events.map((e) => e.change?.target?.name)).toEqual(['Heard'])
})

test('a stream that waited for other nodes does not begin with permissions that its caller lost during the wait [contract 11.access]', async () => {
  const org = await harness.newOrg()
  const person = await newPerson(harness, org, { role: 'admin', allRegions: true })
  const { bus } = harness.services
  const held: (() => void)[] = []
  const sendNow = bus.send.bind(bus)
  const sending = vi.spyOn(bus, 'send').mockImplementation((kind, body) => {
    const release = () => sendNow(kind, body)
    if (kind === 'follow') held.push(release)
    else release()
  })
  const [node = ''] = harness.nodeUrls
  const opening = send(node, 'GET', `/v1/orgs/${org.id}/events`, { key: person.key })
  await until('the stream waits', () => held.length > 0)
  await org.call('PUT', `/users/${person.id}`, { body: { role: 'viewer' } })
  sending.mockRestore()
  for (const release of held) release()
  const refused = await opening
  expect([refused.status, refused.body?.code]).toEqual([503, 'UNAVAILABLE'])
  expect((await org.call('GET', '/events', { key: person.key })).status).toBe(200)
})

test('a stream is counted and logged when it begins, and how long it stays open is no latency', async () => {
  const noted = await startHarness({ logRequests: 'all' })
  onTestFinished(() => noted.close())
  const org = await noted.newOrg()
  const token = await org.newKey({ scopes: ['read'] })
  const metrics = () => readMetrics(noted)
  const reader = await follow(makeClient({ baseUrl: noted.url, org: org.id, token }))
  const counted = /^roomkeeper_http_requests_total{operation="eventsStream",status="200"} 1$/m
  expect(await metrics()).toMatch(counted)
  const logged = () => noted.logged.filter((line) => line.operation === 'eventsStream')
  expect(logged()).toMatchObject([{ msg: 'read', status: 200, org: org.id }])
  const { keys } = (await org.client.keysList()).body
  await org.client.keysDelete({ id: keys.at(-1)?.id ?? '' })
  await until('its end', () => reader.ended)
  const after = await metrics()
  expect(after, 'not again when it ends').toMatch(counted)
  expect(after).toMatch(/^roomkeeper_http_request_duration_seconds_count{operation="eventsStream"} 1$/m)
  expect(logged()).toHaveLength(1)
})

test('a stream ends at once when its key is revoked, and no other does', async () => {
  // The task that checks all streams every second does not run.
  const harness = await startHarness({}, { taskPauseShare: 500 })
  onTestFinished(() => harness.close())
  const org = await harness.newOrg()
  const token = await org.newKey({ scopes: ['read'] })
  const doomed = await follow(makeClient({ baseUrl: harness.url, org: org.id, token }))
  const staying = await follow(org.client)
  const { keys } = (await org.client.keysList()).body
  await org.client.keysDelete({ id: keys.at(-1)?.id ?? '' })
  await until('its end', () => doomed.ended)
  expect(doomed.ended).toBe('by the server')
  await staying.next('structure', (e) => e.change?.type === 'API_KEY_REVOKED')
  expect(staying.ended).toBeUndefined()
})

test('a stream ends when its key expires', async () => {
  const org = await harness.newOrg()
  const expiresAt = new Date(harness.clock.now() + 60_000).toISOString()
  const token = await org.newKey({ scopes: ['read'], expiresAt })
  const reader = await follow(makeClient({ baseUrl: harness.url, org: org.id, token }))
  const staying = await follow(org.client)
  harness.clock.advance(61_000)
  await until('its end', () => reader.ended)
  expect(staying.ended).toBeUndefined()
})

test('a stream that a browser opened with its session ends when it signs out [contract 9.session]', async () => {
  const org = await harness.newOrg()
  const { cookie } = await openSession(harness, { key: org.key })
  const client = makeClient({
    baseUrl: harness.url,
    org: org.id,
    fetch: (url, init) => fetch(url, { ...init, headers: { ...init?.headers, ...own, cookie } }),
  })
  const reader = await follow(client)
  const staying = await follow(org.client)
  await org.client.regionsCreate({ body: { name: 'Heard' } })
  await reader.next('structure')
  expect((await session(harness, 'DELETE', { headers: { cookie } })).status).toBe(200)
  await until('its end', () => reader.ended)
  expect(reader.ended).toBe('by the server')
  expect(staying.ended).toBeUndefined()
})

test('a silent stream says every 15 seconds that it is there, and where', async () => {
  const org = await harness.newOrg()
  const raw = await openRaw(harness.url, org.id, org.key, '?types=sample')
  await createRegion(org, 'Not chosen')
  const reader = await follow(org.client)
  await createRegion(org, 'Also not chosen')
  await reader.next('structure', (e) => e.change?.target?.name === 'Also not chosen')
  expect(raw.text.match(/^:/gm)).toHaveLength(1)
  harness.clock.advance(15_001)
  await until('a sign of life', () => raw.text.match(/^:/gm)?.length === 2)
  expect(raw.text).toMatch(new RegExp(`\\n\\n: still here\\nid: ${reader.received.at(-1)?.id}\\n\\n$`))
})

test('a key that a command revokes ends its stream within seconds, and SIGTERM ends all of them without a wait', async () => {
  const site = await siteForTest()
  const server = await site.serve()
  const admin = makeClient({ baseUrl: server.url, org: server.org, token: server.key })
  const { key, id } = (await admin.keysCreate({ body: { name: 'Wall', scopes: ['read'] } })).body
  const doomed = await follow(makeClient({ baseUrl: server.url, org: server.org, token: key }))
  const staying = await follow(admin)
  expect(await site.run('keys', 'revoke', id, '--org', server.org)).toMatchObject({ code: 0 })
  await until('its end', () => doomed.ended)
  expect(doomed.ended).toBe('by the server')
  expect(staying.ended).toBeUndefined()
  const began = performance.now()
  server.signal('SIGTERM')
  expect(await server.exit()).toMatchObject({ code: 0 })
  expect(performance.now() - began, 'it waits so long for requests').toBeLessThan(timeLimits.requestDrainMs)
  await until('the end of the other', () => staying.ended)
  expect(staying.ended).toBe('by the server')
})
