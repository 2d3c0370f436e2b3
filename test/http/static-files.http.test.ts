// Tests the console's files: paths, encodings, caching and security headers. [contract 9.files]
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { consolePages } from '../../src/contract/people/session.ts'
import { type Service, startService } from '../../src/server/app.ts'
import { makeLog } from '../../src/server/core/log.ts'
import { readConsoleFiles } from '../../src/server/http/browser/static-files.ts'
import { newPlace, quiet, send } from '../support/harness.ts'

const index = `<!doctype html><title>Console</title>${'<p>room</p>'.repeat(50)}`
const script = `console.log(${JSON.stringify('room '.repeat(400))})`
const tiny = 'x()'

const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-console-'))
let service: Service
let remove: () => Promise<void>
beforeAll(async () => {
  mkdirSync(join(folder, 'assets'))
  for (const [name, text] of Object.entries({
    'index.html': index,
    'robots.txt': 'User-agent: *\nDisallow: /\n',
    'assets/index-abc.js': script,
    'assets/tiny-def.js': tiny,
    'assets/icon-ghi.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'assets/strange-jkl.bin': 'bytes',
  })) {
    writeFileSync(join(folder, name), text)
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text))
    writeFileSync(join(folder, `${name}.gz`), gzipSync(text))
  }
  writeFileSync(join(folder, 'assets/alone-mno.js'), script)
  const { place, remove: removePlace } = await newPlace()
  remove = removePlace
  const options = { ...quiet, ...place, corsOrigin: ['https://friend.example.org'] }
  service = await startService(options, makeLog('silent'), { consoleFiles: readConsoleFiles(folder) })
})
afterAll(async () => {
  await service.close()
  await remove()
  rmSync(folder, { recursive: true })
})

interface Raw {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
}

/** A raw request is used, because fetch decodes the body and normalises the dots in a path. */
const raw = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  new Promise<Raw>((resolve, reject) => {
    request(service.url, { path, method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, bytes: Buffer.concat(chunks) }),
      )
    })
      .on('error', reject)
      .end()
  })

describe('what is where', () => {
  test.each(['/', '/?from=mail', ...consolePages.flatMap((page) => [page, `${page}/`, `${page}/7/x%20y?tab=1`])])(
    '%s is the console, asked for again each time',
    async (path) => {
      const reply = await raw(path)
      expect(reply.status).toBe(200)
      expect(reply.bytes.toString()).toBe(index)
      expect(reply.headers['content-type']).toBe('text/html; charset=utf-8')
      expect(reply.headers['cache-control']).toBe('no-cache')
    },
  )

  test.each([
    ['/assets/index-abc.js', 'text/javascript; charset=utf-8', script],
    ['/assets/tiny-def.js', 'text/javascript; charset=utf-8', tiny],
    ['/assets/icon-ghi.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['/assets/strange-jkl.bin', 'application/octet-stream', 'bytes'],
  ])('%s is kept by browsers for ever: its name changes with its content', async (path, type, text) => {
    const reply = await raw(path)
    expect([reply.status, reply.headers['content-type'], reply.bytes.toString()]).toEqual([200, type, text])
    expect(reply.headers['cache-control']).toBe('public, max-age=31536000, immutable')
  })

  test('a file beside them has its own path, and is asked for again', async () => {
    const reply = await raw('/robots.txt')
    expect([reply.status, reply.headers['cache-control']]).toEqual([200, 'no-cache'])
    expect(reply.bytes.toString()).toContain('Disallow')
  })

  test.each([
    ['/assets/index-old.js', 404],
    ['/assets/index-abc.js.br', 404],
    ['/assets/', 404],
    ['/assets', 404],
    ['/assets/../index.html', 404],
    ['/assets/%2e%2e/%2e%2e/package.json', 404],
    ['/assets/%', 404],
    ['/%61ssets/index-old.js', 404],
    ['//assets/index-old.js', 404],
    ['/console', 404],
    ['/console/rooms', 404],
    ['/console/session/x?y=/rooms', 404],
    ['/api', 404],
    ['//api/rooms', 404],
    ['/api/rooms', 404],
    ['/v1', 401],
    ['/v1/rooms', 401],
    ['/api/v1/orgs/x/rooms', 401],
  ])('%s is an error in JSON, not the console', async (path, status) => {
    const reply = await raw(path, { accept: 'text/html' })
    expect(reply.status).toBe(status)
    expect(reply.headers['content-type']).toBe('application/json')
    expect(JSON.parse(reply.bytes.toString())).toMatchObject({ status, message: expect.any(String) })
    expect(reply.headers['cache-control']).toBeUndefined()
  })

  test('other methods are refused: a page does not have them, and any other path is unknown [contract 2.2.method]', async () => {
    const accept = { accept: 'text/html' }
    for (const method of ['POST', 'PUT', 'DELETE']) {
      for (const [path, status] of [
        ['/rooms', 405],
        ['/anything', 404],
      ] as const) {
        const reply = await raw(path, accept, method)
        expect([reply.status, reply.headers['content-type']]).toEqual([status, 'application/json'])
      }
    }
  })
})

describe('an address that leads nowhere', () => {
  const lost = ['/nonsense', '/Rooms', '/roomsx', '/index.html', '/v1x', '/docs/x', '/a/b%20c?d=/v1', '/%', '//']

  test.each(lost)('%s is the console with a 404 for a browser, which is not cached', async (path) => {
    const headers = {
      accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
      'accept-encoding': 'br',
      'if-none-match': '*',
    }
    const reply = await raw(path, headers)
    expect([reply.status, brotliDecompressSync(reply.bytes).toString()]).toEqual([404, index])
    expect(reply.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-encoding': 'br',
      'cache-control': 'no-cache',
      vary: 'Origin, Accept, Accept-Encoding',
      'x-frame-options': 'DENY',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    })
    expect(reply.headers.etag, 'what is not there has no version').toBeUndefined()
    const head = await raw(path, headers, 'HEAD')
    const ours = (given: IncomingHttpHeaders) => ({ ...given, 'x-request-id': '', date: '' })
    expect([head.status, head.bytes.length, ours(head.headers)]).toEqual([404, 0, ours(reply.headers)])
  })

  test.each([undefined, '*/*', 'text/*', 'application/json', 'application/json, text/html;q=0', 'text/htmlx'])(
    'and an error in JSON for a client that accepts %j',
    async (accept) => {
      for (const path of lost) {
        const reply = await raw(path, accept === undefined ? {} : { accept })
        expect([reply.status, reply.headers['content-type']]).toEqual([404, 'application/json'])
        expect(JSON.parse(reply.bytes.toString())).toMatchObject({ code: 'NOT_FOUND', message: expect.any(String) })
        expect(reply.headers.vary).toBe('Origin, Accept')
      }
    },
  )
})

describe('how it comes', () => {
  test.each([
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP;q=1.0, br;q=0', 'gzip'],
    ['br; q=0.000, gzip;q=0', undefined],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['br;q=0, *', 'gzip'],
    ['deflate, zstd', undefined],
    ['; ,,=;q', undefined],
  ])('Accept-Encoding %j gets %j', async (accepted, encoding) => {
    const reply = await raw('/assets/index-abc.js', accepted === undefined ? {} : { 'accept-encoding': accepted })
    expect(reply.headers['content-encoding']).toBe(encoding)
    expect(reply.headers.vary).toBe('Origin, Accept-Encoding')
    expect(reply.headers['content-length']).toBe(String(reply.bytes.length))
    const decode = { br: brotliDecompressSync, gzip: gunzipSync }[encoding ?? ''] ?? ((bytes: Buffer) => bytes)
    expect(decode(reply.bytes).toString()).toBe(script)
  })

  test('an encoding that would be larger is not used', async () => {
    const reply = await raw('/assets/tiny-def.js', { 'accept-encoding': 'br, gzip' })
    expect([reply.headers['content-encoding'], reply.bytes.toString()]).toEqual([undefined, tiny])
  })

  test('a file without neighbours comes as it is: nothing is compressed on the way', async () => {
    const reply = await raw('/assets/alone-mno.js', { 'accept-encoding': 'br, gzip' })
    expect([reply.headers['content-encoding'], reply.bytes.toString()]).toEqual([undefined, script])
  })

  test('HEAD has the headers of GET, and If-None-Match saves the body; each encoding has its own strong ETag', async () => {
    const etags = new Set<string>()
    for (const encoding of ['br', 'gzip', 'identity']) {
      for (const path of ['/', '/assets/index-abc.js']) {
        const accept = { 'accept-encoding': encoding }
        const full = await raw(path, accept)
        const head = await raw(path, accept, 'HEAD')
        const ours = (given: IncomingHttpHeaders) => ({ ...given, 'x-request-id': '', date: '' })
        expect(ours(head.headers)).toEqual(ours(full.headers))
        expect([head.status, head.bytes.length]).toEqual([200, 0])
        const { etag = '' } = full.headers
        expect(etag).toMatch(/^"[\w-]{22}"$/)
        etags.add(etag)
        const known = await raw(path, { ...accept, 'if-none-match': `"other", W/${etag}` })
        expect([known.status, known.bytes.length, known.headers.etag]).toEqual([304, 0, etag])
        expect(known.headers['cache-control']).toBe(full.headers['cache-control'])
        expect((await raw(path, { ...accept, 'if-none-match': '"other"' })).status).toBe(200)
      }
    }
    expect(etags.size).toBe(6)
  })
})

describe('what guards it', () => {
  test.each(['/', '/rooms/7', '/assets/index-abc.js', '/docs', '/enrol'])(
    '%s runs no script but ours, and cannot be framed',
    async (path) => {
      const { headers } = await raw(path)
      const policy = String(headers['content-security-policy'])
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).toContain("base-uri 'none'")
      expect(policy).toContain("form-action 'none'")
      const scripts = /script-src ([^;]*)/.exec(policy)?.[1] ?? ''
      expect(scripts).not.toMatch(/unsafe|data:|https?:|\*/)
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'permissions-policy': 'camera=(), microphone=(), geolocation=()',
      })
      expect(headers['strict-transport-security']).toBeUndefined()
      expect(headers['set-cookie']).toBeUndefined()
    },
  )
})

test('without a build the address says how to make one, and the API works', async () => {
  const { place, remove } = await newPlace()
  const bare = await startService({ ...quiet, ...place }, makeLog('silent'), {
    consoleFiles: readConsoleFiles(join(folder, 'absent')),
  })
  const page = await send(bare.url, 'GET', '/')
  expect(page.status).toBe(200)
  expect(page.text).toContain('npm run build')
  expect(page.text).toContain('href="./docs"')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect((await send(bare.url, 'GET', '/rooms')).text).toBe(page.text)
  // Addresses are relative to the page that was requested, however deep it is. [contract 9.prefix]
  for (const below of ['7', '7/', '7/x%2Fy/', 'x/'.repeat(40)]) {
    const { text } = await send(bare.url, 'GET', `/rooms/${below}`)
    expect(text).toContain(`href="${'../'.repeat(below.split('/').length)}docs"`)
  }
  expect((await send(bare.url, 'GET', '/assets/index.js')).status).toBe(404)
  const { org, key = '' } = bare.first ?? { org: '' }
  expect((await send(bare.url, 'GET', `/v1/orgs/${org}/regions`, { key })).status).toBe(200)
  await bare.close()
  await remove()
})
