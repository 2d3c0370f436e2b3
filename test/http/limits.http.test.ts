// Limits on requests, and input that is no request: sizes, depth, rubbish, compression.
import { connect } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devicePaths } from '../../src/contract/device/protocol.ts'
import { ErrorBody } from '../../src/contract/error.ts'
import { operationList } from '../../src/contract/operations.ts'
import { sessionPath } from '../../src/contract/people/session.ts'
import { passkeyAddPath, passkeySignInPath } from '../../src/contract/people/sign-in.ts'
import { calls, perform } from '../support/contract/calls.ts'
import { threadCpuMs } from '../support/cpu-time.ts'
import { putEndpoints } from '../support/database/endpoint-rows.ts'
import { newFixture } from '../support/fixture.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { rawFetch, rawRequest } from '../support/raw-http.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

describe('limits [contract 7.1]', () => {
  const kibibyte = 1024

  test('each operation reads a body of its limit, and one byte more is a 413 that names the limit', async () => {
    const f = await newFixture(harness)
    // Jobs advance by themselves in the meantime.
    const entries = async () => (await f.audit()).filter(({ actor }) => actor.type !== 'SYSTEM')
    for (const { id, bodyLimitBytes = 4 * kibibyte } of operationList.filter(({ method }) => method !== 'GET')) {
      const { body } = calls[id](f) as { body?: unknown }
      const padded = (bytes: number) => ({ raw: (body === undefined ? '{}' : JSON.stringify(body)).padEnd(bytes) })
      const before = await entries()
      const refused = await perform(harness, f, id, padded(bodyLimitBytes + 1))
      expect(refused.body, id).toMatchObject({ status: 413, code: 'PAYLOAD_TOO_LARGE' })
      expect(refused.body.message).toContain(`${bodyLimitBytes / kibibyte} KiB`)
      expect(await entries()).toEqual(before)
      // An earlier check may refuse the request; the refusal shows that the request was read.
      expect((await perform(harness, f, id, padded(bodyLimitBytes))).status, id).not.toBe(413)
    }
  })

  test.each([devicePaths.enrol, sessionPath, passkeySignInPath])('%s reads 4 KiB and no more', async (path) => {
    const headers = { origin: harness.url, 'sec-fetch-site': 'same-origin' }
    const send = (bytes: number) => harness.call('POST', path, { raw: '{}'.padEnd(bytes), headers })
    expect((await send(4 * kibibyte)).status).toBe(400)
    const refused = await send(4 * kibibyte + 1)
    expect(refused.status).toBe(413)
    expect(refused.body.message).toContain('4 KiB')
  })

  test('logout by an identity provider reads 4 KiB and no more, and a passkey is read only from a person', async () => {
    // Its answers have the shape that OpenID Connect wants, so the harness does not check them.
    const logOut = async (bytes: number) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const body = 'logout_token='.padEnd(bytes, 'x')
      return (await fetch(`${harness.url}/auth/x/oidc/backchannel`, { method: 'POST', headers, body })).status
    }
    expect([await logOut(4 * kibibyte), await logOut(4 * kibibyte + 1)]).toEqual([400, 413])
    const own = { origin: harness.url, 'sec-fetch-site': 'same-origin' }
    const added = await harness.call('POST', passkeyAddPath, { raw: '{}'.padEnd(64 * kibibyte + 1), headers: own })
    expect(added.status).toBe(401)
  })

  test('JSON 32 levels deep is read, 33 is a 400', async () => {
    const { call } = await harness.newOrg()
    const nested = (levels: number) => `{"name":"x","extra":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
    expect((await call('POST', '/regions', { raw: nested(32) })).status).toBe(200)
    const refused = await call('POST', '/regions', { raw: nested(33) })
    expect(refused.status).toBe(400)
    expect(refused.body.message).toContain('32 levels')
  })

  test('JSON with 6,000 lists and objects is read, and 6,001 is a 400 [contract 7.2]', async () => {
    const { call } = await harness.newOrg()
    const { id } = (await call('POST', '/regions', { body: { name: 'x' } })).body
    const send = (count: number) =>
      call('PUT', `/regions/${id}`, {
        raw: `{"name":"[{","extra":[${Array(count - 2)
          .fill('[]')
          .join(',')}]}`,
      })
    expect((await send(6_000)).status).toBe(200)
    const refused = await send(6_001)
    expect(refused.status).toBe(400)
    expect(refused.body.message).toContain('6000 lists and objects')
  })

  test('JSON with 20,000 commas between values is read, and 20,001 is a 400 [contract 7.2]', async () => {
    const { call } = await harness.newOrg()
    const { id } = (await call('POST', '/regions', { body: { name: 'x' } })).body
    const send = (commas: number) =>
      call('PUT', `/regions/${id}`, { raw: `{"name":",","extra":[${Array(commas).fill('1').join(',')}]}` })
    expect((await send(20_000)).status).toBe(200)
    const refused = await send(20_001)
    expect(refused.status).toBe(400)
    expect(refused.body.message).toContain('20000 commas')
  })

  test('JSON with 6,000 keys is read, 6,001 is a 400, and what looks like a key inside a text is none', async () => {
    const { call } = await harness.newOrg()
    const { id } = (await call('POST', '/regions', { body: { name: 'x' } })).body
    const send = (keys: number) => {
      const others = Array.from({ length: keys - 2 }, (_, i) => `"${i}":1`).join(',')
      return call('PUT', `/regions/${id}`, { raw: `{"name":"a\\"\\\\","extra":["::::",{${others}}]}` })
    }
    expect((await send(6_000)).status).toBe(200)
    const refused = await send(6_001)
    expect(refused.status).toBe(400)
    expect(refused.body.message).toContain('6000 keys')
  })

  test('a long list or many unknown keys cost next to nothing', async () => {
    const { call } = await harness.newOrg()
    const scopes = Array.from({ length: 1_500 }, (_, i) => `s${i}`)
    const config = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`s${i}`, 1]))
    const started = threadCpuMs()
    const refused = await call('POST', '/keys', { body: { name: 'x', scopes } })
    expect(refused.body.violations).toEqual([{ field: 'scopes', error: 'must have at most 3 items' }])
    const named = await call('POST', '/profiles', { body: { name: 'x', config } })
    expect(named.body.violations).toHaveLength(50)
    expect(threadCpuMs() - started, 'milliseconds of CPU').toBeLessThan(500)
  })

  test('a compressed body is a 415', async () => {
    const { call } = await harness.newOrg()
    for (const encoding of ['gzip', 'foo']) {
      const reply = await call('POST', '/regions', { raw: '{"name":"x"}', headers: { 'content-encoding': encoding } })
      expect(reply.body.code).toBe('UNSUPPORTED_MEDIA_TYPE')
    }
    const identity = { 'content-encoding': 'identity' }
    expect((await call('POST', '/regions', { raw: '{"name":"x"}', headers: identity })).status).toBe(200)
  })

  test('an upload that breaks off is not our error', async () => {
    const { id, key } = await harness.newOrg()
    harness.logged.length = 0
    const { port } = new URL(harness.url)
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
    const head = `POST /v1/orgs/${id}/regions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"na`
    await new Promise((resolve) => socket.write(head, resolve))
    socket.destroy()
    await new Promise((resolve) => socket.once('close', resolve))
    for (let i = 0; i < 5; i++) expect((await harness.call('GET', '/livez')).status).toBe(200)
    expect(harness.logged.filter((line) => line.level === 50)).toEqual([])
  })

  test('an unknown Expect is answered like any other request', async () => {
    const { port } = new URL(harness.url)
    const answer = await rawRequest(
      Number(port),
      'GET /v1/x HTTP/1.1\r\nHost: x\r\nExpect: foo\r\nConnection: close\r\n\r\n',
    )
    expect(answer).toMatch(/^HTTP\/1.1 401/)
    expect(answer).toMatch(/x-request-id: /i)
  })

  test('headers over 16 KiB are a 431, and rubbish is a 400, both in the one shape of errors', async () => {
    const { port } = new URL(harness.url)
    for (const [request, status] of [
      [`GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(17 * 1024)}\r\n\r\n`, 431],
      ['\u0016\u0003\u0001 rubbish\r\n\r\n', 400],
      ['FROB / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ] as const) {
      const answer = await rawRequest(Number(port), request)
      expect(answer.split('\r\n')[0]).toContain(String(status))
      const body = JSON.parse(answer.split('\r\n\r\n')[1] ?? '')
      expect(Object.keys(body).every((key) => key in ErrorBody.properties)).toBe(true)
      expect(body.status).toBe(status)
      expect(answer).toContain(`X-Request-Id: ${body.requestId}`)
    }
  })
})

describe('compression [contract 7.7]', () => {
  const accepting = (encoding: string) => ({ headers: { 'accept-encoding': encoding } })

  test('bodies over 1 KiB are compressed when asked for, and their strong ETag does not change', async () => {
    const { call, id, key } = await harness.newOrg()
    for (let i = 0; i < 30; i++)
      await call('POST', '/regions', { body: { name: `A region with a long name, number ${i}` } })
    const plain = (await call('GET', '/regions')).text
    for (const [encoding, decode] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      const response = await rawFetch(`${harness.url}/v1/orgs/${id}/regions`, key, accepting(encoding))
      expect(response.headers['content-encoding']).toBe(encoding)
      expect(decode(response.bytes).toString()).toBe(plain)
    }
    for (const [path, encoding] of [
      ['locations', 'gzip'],
      ['regions', 'identity'],
    ] as const) {
      const { headers } = await rawFetch(`${harness.url}/v1/orgs/${id}/${path}`, key, accepting(encoding))
      expect(headers).not.toHaveProperty('content-encoding')
    }
  })

  test('a list of many pieces is the same with and without', async () => {
    const org = await harness.newOrg()
    const rows = await putEndpoints(harness, org, Array(600).fill({}))
    const url = `${harness.url}/v1/orgs/${org.id}/endpoints`
    const plain = await rawFetch(url, org.key, accepting('identity'))
    expect(plain.headers['content-length']).toBe(`${plain.bytes.length}`)
    const { endpoints } = JSON.parse(plain.bytes.toString())
    expect(endpoints.map((endpoint: { id: string }) => endpoint.id)).toEqual(rows.map(({ id }) => id).sort())
    expect(gunzipSync((await rawFetch(url, org.key, accepting('gzip'))).bytes).equals(plain.bytes)).toBe(true)
    expect(brotliDecompressSync((await rawFetch(url, org.key, accepting('br'))).bytes).equals(plain.bytes)).toBe(true)
    const head = await rawFetch(url, org.key, { ...accepting('gzip'), method: 'HEAD' })
    expect(head.headers.etag).toBe(plain.headers.etag)
    expect(head.headers).not.toHaveProperty('content-length')
    expect(head.bytes).toHaveLength(0)
  })

  test('a body that is short after compression has a Content-Length', async () => {
    const org = await harness.newOrg()
    await putEndpoints(harness, org, Array(20).fill({}))
    for (const encoding of ['gzip', 'br']) {
      const { headers, bytes } = await rawFetch(
        `${harness.url}/v1/orgs/${org.id}/endpoints`,
        org.key,
        accepting(encoding),
      )
      expect(headers).toMatchObject({ 'content-encoding': encoding, 'content-length': `${bytes.length}` })
    }
  })
})
