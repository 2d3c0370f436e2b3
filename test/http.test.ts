// What holds for the service as a whole: bases, ids, CORS, limits, compression, health, metrics, logs.
import { connect } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ErrorBody } from '../src/contract/error.ts'
import { operationIds } from '../src/contract/operations.ts'
import { type Harness, startHarness } from './harness.ts'

let house: Harness
beforeAll(async () => {
  house = await startHarness({ corsOrigin: ['https://console.example.org'], publicUrl: 'https://rooms.example.org' })
})
afterAll(() => house.close())

describe('bases [contract 1.1]', () => {
  test('the legacy base says that it is deprecated, when it ends and where to go', async () => {
    const { id, key } = await house.newOrg()
    const reply = await house.call('GET', `/api/v1/orgs/${id}/regions?x=1`, { key })
    expect(reply.status).toBe(200)
    expect(reply.headers.get('deprecation')).toMatch(/^@\d+$/)
    expect(reply.headers.get('sunset')).toBe('Mon, 30 Jun 2025 23:59:59 GMT')
    expect(reply.headers.get('link')).toBe(`</v1/orgs/${id}/regions>; rel="successor-version"`)
    const failed = await house.call('GET', `/api/v1/orgs/${id}/nowhere`, { key })
    expect(failed.status).toBe(404)
    expect(failed.headers.get('deprecation')).toMatch(/^@\d+$/)
  })

  test('a doubled leading slash is tolerated on both', async () => {
    const { id, key } = await house.newOrg()
    expect((await house.call('GET', `//v1/orgs/${id}/regions`, { key })).status).toBe(200)
    expect((await house.call('GET', `//api/v1/orgs/${id}/regions`, { key })).status).toBe(200)
  })

  test('outside a base nothing needs a token, below one everything does [contract 2.3]', async () => {
    const { id, key } = await house.newOrg()
    expect((await house.call('GET', '/nowhere')).status).toBe(404)
    expect((await house.call('GET', '/v1x')).status).toBe(404)
    for (const path of [
      '/v1',
      '/v1/nowhere',
      '/api/v1/nowhere',
      `/v1/orgs/${id}`,
      `/v1/orgs/${id}/nowhere`,
      '/v1/orgs/%zz/x',
    ]) {
      expect((await house.call('GET', path)).status, path).toBe(401)
      expect((await house.call('GET', path, { key })).status, path).toBe(404)
    }
  })
})

describe('request ids [contract 1.9]', () => {
  test('a good one is kept, any other replaced', async () => {
    const { call } = await house.newOrg()
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
    const reply = await house.call('OPTIONS', '/v1/orgs/x/regions/1', {
      headers: preflight('https://console.example.org'),
    })
    expect(reply.status).toBe(204)
    expect(reply.headers.get('access-control-allow-origin')).toBe('https://console.example.org')
    expect(reply.headers.get('access-control-allow-methods')).toContain('PUT')
    expect(reply.headers.get('access-control-allow-headers')).toMatch(/Authorization.*If-Match/)
  })

  test('another origin gets no permission', async () => {
    const reply = await house.call('OPTIONS', '/v1/orgs/x/regions/1', { headers: preflight('https://evil.example') })
    expect(reply.headers.has('access-control-allow-origin')).toBe(false)
  })

  test('answers and errors expose the headers that a browser needs', async () => {
    const { call } = await house.newOrg()
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

describe('limits [contract 7.1]', () => {
  test('a body over 1 MiB is a 413, one just below is read', async () => {
    const { call } = await house.newOrg()
    const padded = (bytes: number) => `{"name":"x","pad":"${'a'.repeat(bytes - 20)}"}`
    const before = (await call('GET', '/regions')).text
    expect((await call('POST', '/regions', { raw: padded(1024 * 1024 + 1) })).body.code).toBe('PAYLOAD_TOO_LARGE')
    expect((await call('GET', '/regions')).text).toBe(before)
    expect((await call('POST', '/regions', { raw: padded(1024 * 1024 - 10) })).status).toBe(200)
  })

  test('JSON 32 levels deep is read, 33 is a 400', async () => {
    const { call } = await house.newOrg()
    const nested = (levels: number) => `{"name":"x","extra":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
    expect((await call('POST', '/regions', { raw: nested(32) })).status).toBe(200)
    const refused = await call('POST', '/regions', { raw: nested(33) })
    expect(refused.status).toBe(400)
    expect(refused.body.message).toContain('32 levels')
  })

  test('headers over 16 KiB are a 431, and rubbish is a 400, both in the one shape of errors', async () => {
    const { port } = new URL(house.url)
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

const rawRequest = (port: number, text: string) =>
  new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })

describe('compression [contract 7.7]', () => {
  test('bodies over 1 KiB are compressed when asked for, and their strong ETag does not change', async () => {
    const { call, id, key } = await house.newOrg()
    for (let i = 0; i < 30; i++)
      await call('POST', '/regions', { body: { name: `A region with a long name, number ${i}` } })
    const plain = (await call('GET', '/regions')).text
    for (const [encoding, decode] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      const response = await rawFetch(`${house.url}/v1/orgs/${id}/regions`, key, encoding)
      expect(response.encoding).toBe(encoding)
      expect(decode(response.bytes).toString()).toBe(plain)
    }
    expect((await rawFetch(`${house.url}/v1/orgs/${id}/locations`, key, 'gzip')).encoding).toBeUndefined()
    expect((await rawFetch(`${house.url}/v1/orgs/${id}/regions`, key, 'identity')).encoding).toBeUndefined()
  })
})

/** `fetch` would decode by itself. */
async function rawFetch(url: string, key: string, encoding: string) {
  const { request } = await import('node:http')
  return new Promise<{ encoding: string | undefined; bytes: Buffer }>((resolve, reject) => {
    request(url, { headers: { authorization: `Bearer ${key}`, 'accept-encoding': encoding } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ encoding: response.headers['content-encoding'], bytes: Buffer.concat(chunks) }),
      )
    })
      .on('error', reject)
      .end()
  })
}

describe('beside the API', () => {
  test('livez and readyz answer without a token', async () => {
    expect((await house.call('GET', '/livez')).body).toEqual({ ok: true })
    expect((await house.call('GET', '/readyz')).body).toEqual({ ok: true })
  })

  test('openapi.json names every operation and the public address', async () => {
    const { body } = await house.call('GET', '/openapi.json')
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
    const page = await house.call('GET', '/docs')
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toContain('text/html')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(page.headers.get('content-security-policy')).not.toContain('unsafe')
    for (const id of operationIds) expect(page.text).toContain(`id="${id}"`)
    expect(page.text).not.toMatch(/(src|href)="(https?:)?\/\//)
    expect((await house.call('GET', '/')).headers.get('location')).toBe('/docs')
  })

  test('metrics count requests by operation and status, and know latencies, database and process', async () => {
    const { call } = await house.newOrg()
    await call('POST', '/regions', { body: { name: 'x' } })
    await call('POST', '/regions', { body: {} })
    const { text } = await house.call('GET', '/metrics')
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
    const { call, key } = await house.newOrg()
    house.logged.length = 0
    await call('GET', '/regions', { headers: { 'x-request-id': 'a-read' } })
    await call('POST', '/regions', { body: { name: 'x' }, headers: { 'x-request-id': 'a-write' } })
    await call('POST', '/regions', { body: {}, headers: { 'x-request-id': 'a-refused-write' } })
    await house.call('POST', '/v1/orgs/x/regions', { key: key.replace(/.$/, '!'), body: {} })
    const lines = house.logged.map((line) => [line.requestId, line.operation, line.status])
    expect(lines).toContainEqual(['a-write', 'regionsCreate', 200])
    expect(lines).toContainEqual(['a-refused-write', 'regionsCreate', 400])
    expect(lines.some(([id]) => id === 'a-read')).toBe(false)
    expect(JSON.stringify(house.logged)).not.toContain(key.slice(9))
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

describe('two writers at once', () => {
  test('with the same If-Match: one wins, the others get a clear answer, nothing is half done', async () => {
    const { call, audit } = await house.newOrg()
    await call('POST', '/regions', { body: { name: 'start' } })
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        call('PUT', '/regions/1', { body: { name: `writer ${i}` }, headers: { 'if-match': '"1"' } }),
      ),
    )
    const winners = replies.filter((r) => r.status === 200)
    expect(winners).toHaveLength(1)
    expect(replies.filter((r) => r.status === 412)).toHaveLength(9)
    const { regions } = (await call('GET', '/regions')).body
    expect(regions).toEqual([{ ...winners[0]?.body }])
    expect((await audit()).filter((e) => e.type === 'REGION_UPDATED')).toHaveLength(1)
  })

  test('deleting a region while a location moves in: never a location without its region', async () => {
    const { call } = await house.newOrg()
    for (let round = 0; round < 10; round++) {
      const region = (await call('POST', '/regions', { body: { name: 'r' } })).body.id
      const location = (await call('POST', '/locations', { body: { name: 'l' } })).body.id
      const [removed, moved] = await Promise.all([
        call('DELETE', `/regions/${region}`),
        call('PUT', `/locations/${location}`, { body: { regionId: region } }),
      ])
      expect([removed.status, moved.status].sort()).toEqual([200, 400])
      const after = (await call('GET', '/locations')).body.locations.find((l: { id: number }) => l.id === location)
      expect(after.region?.id).toBe(moved.status === 200 ? region : undefined)
    }
  })

  test('many creates at once get one id each, without gaps', async () => {
    const { call } = await house.newOrg()
    const made = await Promise.all(
      Array.from({ length: 40 }, (_, i) => call('POST', '/regions', { body: { name: `${i}` } })),
    )
    expect(made.map((r) => r.body.id).sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1))
  })
})
