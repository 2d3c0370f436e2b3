// Properties of the service as a whole: bases, ids, CORS, health, metrics, logs.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operationIds } from '../../src/contract/operations.ts'
import {
  makeCredential,
  makeSessionSecret,
  makeSignInLinkSecret,
  makeUserLinkSecret,
  makeUserSessionSecret,
} from '../../src/server/auth/token.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { readMetrics } from '../support/nodes/metrics.ts'
import { rawRequest } from '../support/raw-http.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({ corsOrigin: ['https://console.example.org'], publicUrl: 'https://rooms.example.org' })
})
afterAll(() => harness.close())

describe('bases [contract 1.1]', () => {
  test('the legacy base says that it is deprecated, when it ends and where to go', async () => {
    const { id, key } = await harness.newOrg()
    const reply = await harness.call('GET', `/api/v1/orgs/${id}/regions?x=1`, { key })
    expect(reply.status).toBe(200)
    expect(reply.headers.get('deprecation')).toMatch(/^@\d+$/)
    expect(reply.headers.get('sunset')).toBe('Mon, 30 Jun 2025 23:59:59 GMT')
    expect(reply.headers.get('link')).toBe(`</v1/orgs/${id}/regions>; rel="successor-version"`)
    const failed = await harness.call('GET', `/api/v1/orgs/${id}/nowhere`, { key })
    expect(failed.status).toBe(404)
    expect(failed.headers.get('deprecation')).toMatch(/^@\d+$/)
  })

  test('a doubled leading slash is tolerated on both', async () => {
    const { id, key } = await harness.newOrg()
    expect((await harness.call('GET', `//v1/orgs/${id}/regions`, { key })).status).toBe(200)
    expect((await harness.call('GET', `//api/v1/orgs/${id}/regions`, { key })).status).toBe(200)
  })

  test('outside a base nothing needs a token, below one everything does [contract 2.3]', async () => {
    const { id, key } = await harness.newOrg()
    expect((await harness.call('GET', '/nowhere')).status).toBe(404)
    expect((await harness.call('GET', '/v1x')).status).toBe(404)
    for (const path of ['/v1', '/v1/nowhere', '/api/v1/nowhere', `/v1/orgs/${id}/nowhere`, '/v1/orgs/%zz/x']) {
      expect((await harness.call('GET', path)).status, path).toBe(401)
      expect((await harness.call('GET', path, { key })).status, path).toBe(404)
    }
  })
})

describe('a path that is written otherwise', () => {
  test('meets the same checks: escaped letters, an absolute target, a slash too many [contract 2.3]', async () => {
    const { id, key } = await harness.newOrg()
    for (const path of [`/%761/orgs/${id}/regions`, `/v%31/orgs/${id}/regions`, `/api//v1/orgs/${id}/regions`]) {
      expect((await harness.call('GET', path)).status, path).toBe(401)
      const stranger = await harness.newOrg()
      expect((await harness.call('GET', path, { key: stranger.key })).status, path).toBe(404)
    }
    expect((await harness.call('GET', `/api//v1/orgs/${id}/regions`, { key })).status).toBe(200)
    const { port } = new URL(harness.url)
    const target = `http://rooms.example.org/v1/orgs/${id}/regions`
    const close = 'Host: x\r\nConnection: close\r\n'
    expect(await rawRequest(Number(port), `GET ${target} HTTP/1.1\r\n${close}\r\n`)).toMatch(/^HTTP\/1.1 401/)
    expect(
      await rawRequest(Number(port), `GET ${target} HTTP/1.1\r\n${close}Authorization: Bearer ${key}\r\n\r\n`),
    ).toMatch(/^HTTP\/1.1 200/)
  })

  test('is unknown before its body is looked at [contract 2.3]', async () => {
    const { call, id } = await harness.newOrg()
    const text = { 'content-type': 'text/plain' }
    for (const body of [{ raw: '{' }, { raw: 'x', headers: text }, { raw: 'x'.repeat(1024 * 1024 + 1) }]) {
      expect((await call('POST', '/nothing', body)).status).toBe(404)
      expect((await call('PATCH', '/regions', body)).status).toBe(405)
      expect((await harness.call('POST', '/nothing', body)).status).toBe(404)
      expect((await harness.call('POST', `/v1/orgs/${id}/nothing`, body)).status).toBe(401)
    }
  })
})

describe('request ids [contract 1.9]', () => {
  test('a good one is kept, any other replaced', async () => {
    const { call } = await harness.newOrg()
    const good = ['a', 'A-z_0.9', 'x'.repeat(64)]
    for (const id of good) {
      expect((await call('GET', '/regions', { headers: { 'x-request-id': id } })).headers.get('x-request-id')).toBe(id)
    }
    for (const id of ['x'.repeat(65), 'a b', 'ü', 'a/b', '<script>']) {
      const reply = await call('GET', '/nowhere', { headers: { 'x-request-id': Buffer.from(id).toString('latin1') } })
      expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      expect(reply.body.requestId).toBe(reply.headers.get('x-request-id'))
    }
  })
})

describe('CORS [contract 1.8]', () => {
  const preflight = (origin: string) => ({ origin, 'access-control-request-method': 'PUT' })

  test('a preflight of a configured origin is answered before the token check', async () => {
    const reply = await harness.call('OPTIONS', '/v1/orgs/x/regions/1', {
      headers: preflight('https://console.example.org'),
    })
    expect(reply.status).toBe(204)
    expect(reply.headers.get('access-control-allow-origin')).toBe('https://console.example.org')
    expect(reply.headers.get('access-control-allow-methods')).toContain('PUT')
    expect(reply.headers.get('access-control-allow-headers')).toMatch(/Authorization.*If-Match.*Idempotency-Key/)
  })

  test('another origin gets no permission', async () => {
    const reply = await harness.call('OPTIONS', '/v1/orgs/x/regions/1', { headers: preflight('https://evil.example') })
    expect(reply.headers.has('access-control-allow-origin')).toBe(false)
  })

  test('answers and errors expose the headers that a browser needs', async () => {
    const { call } = await harness.newOrg()
    for (const path of ['/regions', '/nowhere']) {
      const reply = await call('GET', path, { headers: { origin: 'https://console.example.org' } })
      expect(reply.headers.get('access-control-allow-origin')).toBe('https://console.example.org')
      const exposed = reply.headers.get('access-control-expose-headers')
      for (const name of ['ETag', 'Retry-After', 'RateLimit', 'RateLimit-Policy', 'X-Request-Id'])
        expect(exposed).toContain(name)
      expect(reply.headers.get('vary')).toMatch(/origin/i)
    }
  })
})

describe('beside the API', () => {
  test('livez and readyz answer without a token', async () => {
    expect((await harness.call('GET', '/livez')).body).toEqual({ ok: true })
    expect((await harness.call('GET', '/readyz')).body).toEqual({ ok: true })
  })

  test('openapi.json names every operation and the public address', async () => {
    const { body } = await harness.call('GET', '/openapi.json')
    expect(body.openapi).toBe('3.1.0')
    expect(body.info.version).toBe('0.1.1')
    expect(body.servers[0].url).toBe('https://rooms.example.org')
    const ids = Object.values(body.paths as Record<string, Record<string, { operationId: string }>>).flatMap((path) =>
      Object.values(path).map((operation) => operation.operationId),
    )
    for (const id of operationIds) expect(ids).toContain(id)
    expect(Object.keys(body.components.securitySchemes)).toEqual(['bearerToken'])
  })

  test('docs is a page that names every operation and loads nothing from elsewhere', async () => {
    const page = await harness.call('GET', '/docs')
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toContain('text/html')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(page.headers.get('content-security-policy')).not.toContain('unsafe')
    for (const id of operationIds) expect(page.text).toContain(`id="${id}"`)
    expect(page.text).not.toMatch(/(src|href)="(https?:)?\/\//)
  })

  test('metrics count requests by operation and status, and know latencies, database and process', async () => {
    const { call } = await harness.newOrg()
    await call('POST', '/regions', { body: { name: 'x' } })
    await call('POST', '/regions', { body: {} })
    const text = await readMetrics(harness)
    expect(text).toMatch(/roomkeeper_http_requests_total\{operation="regionsCreate",status="200"\} \d/)
    expect(text).toMatch(/roomkeeper_http_requests_total\{operation="regionsCreate",status="400"\} \d/)
    expect(text).toMatch(/roomkeeper_http_request_duration_seconds_count\{operation="regionsCreate"\} \d/)
    expect(text).toMatch(/roomkeeper_db_transaction_duration_seconds_count\{outcome="committed"\} \d/)
    expect(text).toMatch(/process_cpu_seconds_total \d/)
  })
})

describe('metrics from elsewhere [contract D.10]', () => {
  test('need a key with Read', async () => {
    const behindProxy = await startHarness({ trustProxy: ['127.0.0.0/8'] })
    try {
      const { key, newKey } = await behindProxy.newOrg()
      const headers = { 'x-forwarded-for': '203.0.113.9' }
      expect((await behindProxy.call('GET', '/metrics', { headers })).status).toBe(401)
      const writer = await newKey({ scopes: ['write'] })
      expect((await behindProxy.call('GET', '/metrics', { headers, key: writer })).status).toBe(403)
      expect((await behindProxy.call('GET', '/metrics', { headers, key })).status).toBe(200)
    } finally {
      await behindProxy.close()
    }
  })
})

describe('logs', () => {
  test('hold a line for every write and none for reads, and never a key', async () => {
    const { call, key } = await harness.newOrg()
    harness.logged.length = 0
    await call('GET', '/regions', { headers: { 'x-request-id': 'a-read' } })
    await call('POST', '/regions', { body: { name: 'x' }, headers: { 'x-request-id': 'a-write' } })
    await call('POST', '/regions', { body: {}, headers: { 'x-request-id': 'a-refused-write' } })
    await harness.call('POST', '/v1/orgs/x/regions', { key: key.replace(/.$/, '!'), body: {} })
    const lines = harness.logged.map((line) => [line.requestId, line.operation, line.status])
    expect(lines).toContainEqual(['a-write', 'regionsCreate', 200])
    expect(lines).toContainEqual(['a-refused-write', 'regionsCreate', 400])
    expect(lines.some(([id]) => id === 'a-read')).toBe(false)
    expect(JSON.stringify(harness.logged)).not.toContain(key.slice(9))
  })

  test('mask a key, session, link or credential in a path, also in part or escaped', async () => {
    const { call, key } = await harness.newOrg()
    harness.logged.length = 0
    const secrets = [
      key,
      makeSessionSecret(),
      makeUserSessionSecret(),
      makeSignInLinkSecret(),
      makeUserLinkSecret(),
      makeCredential(),
    ]
    for (const secret of secrets) {
      await call('POST', `/${secret}`, { headers: { 'x-request-id': 'whole' } })
      await call('POST', `/x/${secret.slice(0, 30)}/y?key=${secret}`, { headers: { 'x-request-id': 'part' } })
      await call('POST', `/${secret.replace('_', '%5F')}`, { headers: { 'x-request-id': 'escaped' } })
      await call('POST', `/%zz${secret.replace('_', '%5F')}`, { headers: { 'x-request-id': 'broken' } })
      expect(JSON.stringify(harness.logged)).not.toContain(secret.slice(4, 20))
    }
    const lines = harness.logged.filter((line) => line.msg === 'write')
    expect(lines).toHaveLength(4 * secrets.length)
    expect(lines[0]?.path).toMatch(/^\/v1\/orgs\/\w+\/rk_…$/)
    expect(lines.at(-3)?.path).toMatch(/\/x\/rkd_…\/y$/)
  })

  test('hold a line for reads when asked for', async () => {
    const talkative = await startHarness({ logRequests: 'all' })
    try {
      const { call } = await talkative.newOrg()
      await call('GET', '/regions', { headers: { 'x-request-id': 'a-read' } })
      expect(talkative.logged.some((line) => line.requestId === 'a-read' && line.operation === 'regionsList')).toBe(
        true,
      )
    } finally {
      await talkative.close()
    }
  })
})

describe('messages say what to do', () => {
  test('a word that is none of the known ones is told all of them', async () => {
    const { call } = await harness.newOrg()
    const user = await call('POST', '/users', { body: { email: 'a@example.org', role: 'boss', regionIds: [] } })
    expect(user.body.message).toBe('Invalid request: role must be one of owner, admin, operator, viewer')
    const key = await call('POST', '/keys', { body: { name: 'k', scopes: ['raed'] } })
    expect(key.body.message).toBe('Invalid request: scopes[0] must be one of read, operate, write')
  })

  test('a token with a typing error is told apart from one that is not current', async () => {
    const { call, key } = await harness.newOrg()
    const typo = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a')
    expect((await call('GET', '/regions', { key: typo })).body.message).toContain('Check that you copied all of it')
  })

  test('a 412 carries the version to go on with, and says when If-Match was not a version at all', async () => {
    const { call } = await harness.newOrg()
    await call('POST', '/regions', { body: { name: 'Europe' } })
    const update = (tag: string) => call('PUT', '/regions/1', { body: { name: 'EMEA' }, headers: { 'if-match': tag } })
    expect((await update('1')).body.message).toMatch(/^If-Match takes versions in quotes/)
    const stale = await update('"9"')
    expect(stale.body.message).toMatch(/^The resource has changed/)
    expect((await update(stale.headers.get('etag') ?? '')).status).toBe(200)
  })
})
