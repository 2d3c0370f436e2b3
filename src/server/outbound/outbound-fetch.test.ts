// Requests of the server reach allowed addresses only, follow no redirect, and end in time and size.
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { certificate } from '../../../test/support/certificate.ts'
import type { ResolveName } from '../../network/name-lookups.ts'
import { type TimeLimits, timeLimits } from '../core/time-limits.ts'
import { OutboundError } from './outbound-error.ts'
import { type OutboundClient, openOutbound } from './outbound-fetch.ts'

const opened: OutboundClient[] = []
afterEach(async () => {
  for (const outbound of opened.splice(0)) await outbound.close()
})

function open(
  rules: { allow?: string[]; allowLoopback?: boolean } = {},
  resolveName?: ResolveName,
  limits: TimeLimits = timeLimits,
): OutboundClient['fetch'] {
  const outbound = openOutbound(
    { allow: [], allowLoopback: false, ...rules },
    { limits, ...(resolveName && { resolveName }) },
  )
  opened.push(outbound)
  return outbound.fetch
}

/** Starts a server on loopback that counts its requests. */
async function serve(
  listener: RequestListener,
  server: Server = createServer(),
): Promise<{ port: number; requests(): number }> {
  let requests = 0
  server.on('request', (request, response) => {
    requests += 1
    listener(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, requests: () => requests }
}

const ok: RequestListener = (_, response) => response.end('hello')

const resolvesTo =
  (...addresses: string[]): ResolveName =>
  (_, __, callback) => {
    const family = (address: string) => (address.includes(':') ? 6 : 4)
    callback(
      null,
      addresses.map((address): LookupAddress => ({ address, family: family(address) })),
    )
  }

const reasonOf = async (answer: Promise<Response>) => {
  const error = await answer.then(
    ({ status }) => `status ${status}`,
    (error) => error,
  )
  expect(error).toBeInstanceOf(OutboundError)
  return (error as OutboundError).reason
}

test('an answer has its status, headers and body', async () => {
  const { port } = await serve((request, response) => {
    response.writeHead(418, { 'X-Seen': `${request.method} ${request.headers['x-sent']}` })
    request.pipe(response)
  })
  const answer = await open({ allowLoopback: true })(`http://127.0.0.1:${port}/path`, {
    method: 'POST',
    headers: { 'X-Sent': 'yes' },
    body: 'a body',
  })
  expect(answer.status).toBe(418)
  expect(answer.headers.get('x-seen')).toBe('POST yes')
  expect(await answer.text()).toBe('a body')
})

test('an address in the URL is refused in every spelling, and no connection is opened', async () => {
  const { port, requests } = await serve(ok)
  const fetch = open()
  for (const host of [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '127.0.0.1.',
    '[::ffff:127.0.0.1]',
    '0.0.0.0',
    '[::]',
  ]) {
    expect(await reasonOf(fetch(`http://${host}:${port}/`)), host).toBe('address not allowed')
    expect(await reasonOf(fetch(`https://${host}:${port}/`)), host).toBe('address not allowed')
  }
  expect(requests()).toBe(0)
})

test('a name is refused for the addresses that it resolves to', async () => {
  const { port, requests } = await serve(ok)
  expect(await reasonOf(open()(`https://localhost:${port}/`))).toBe('address not allowed')
  for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '169.254.169.254', '::1', '10.0.0.1']) {
    expect(await reasonOf(open({}, resolvesTo(address))(`https://idp.example.org:${port}/`)), address).toBe(
      'address not allowed',
    )
  }
  expect(requests()).toBe(0)
})

test('a connection gets only the allowed ones of the addresses of a name', async () => {
  const { port } = await serve(ok)
  const mixed = resolvesTo('10.0.0.1', '169.254.169.254', '127.0.0.1')
  const answer = await open({ allowLoopback: true }, mixed)(`http://idp.example.org:${port}/`)
  expect(await answer.text()).toBe('hello')
})

test('a name that resolves to another address at its next look-up is checked again', async () => {
  const { port, requests } = await serve((_, response) => response.setHeader('Connection', 'close').end())
  let lookups = 0
  const rebinding: ResolveName = (name, options, callback) => {
    lookups += 1
    resolvesTo(lookups === 1 ? '127.0.0.1' : '127.0.0.2')(name, options, callback)
  }
  const fetch = open({ allow: ['127.0.0.1'] }, rebinding)
  expect((await fetch(`http://idp.example.org:${port}/`)).status).toBe(200)
  expect(await reasonOf(fetch(`http://idp.example.org:${port}/`))).toBe('address not allowed')
  expect([lookups, requests()]).toEqual([2, 1])
})

test('--outbound-allow opens a name, a range and a port, also without TLS', async () => {
  const { port } = await serve(ok)
  for (const item of ['localhost', `localhost:${port}`, '127.0.0.0/8', `127.0.0.1:${port}`]) {
    expect((await open({ allow: [item] }, resolvesTo('127.0.0.1'))(`http://localhost:${port}/`)).status, item).toBe(200)
  }
  for (const item of ['localhost:1', '127.0.0.1:1', '127.0.0.2', 'example.org']) {
    const answer = open({ allow: [item] }, resolvesTo('127.0.0.1'))(`http://localhost:${port}/`)
    expect(await reasonOf(answer), item).toBe('address not allowed')
  }
})

test('plain HTTP to the public internet is refused before anything is sent', async () => {
  expect(await reasonOf(open()('http://8.8.8.8/'))).toBe('https required')
  expect(await reasonOf(open({}, resolvesTo('8.8.8.8'))('http://idp.example.org/'))).toBe('https required')
  expect(await reasonOf(open({ allowLoopback: true })('file:///etc/passwd'))).toBe('https required')
  expect(await reasonOf(open({ allowLoopback: true })('data:text/plain,hello'))).toBe('https required')
})

test.each([301, 302, 303, 307, 308])('a redirect with status %i is not followed', async (status) => {
  const target = await serve(ok)
  const { port } = await serve((_, response) =>
    response.writeHead(status, { Location: `http://127.0.0.1:${target.port}/` }).end(),
  )
  expect(await reasonOf(open({ allowLoopback: true })(`http://127.0.0.1:${port}/`))).toBe('redirect')
  expect(target.requests()).toBe(0)
})

test('variables for proxies are ignored', async () => {
  const proxy = await serve(ok)
  const { port } = await serve((_, response) => response.end('direct'))
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']
  const before = names.map((name) => [name, process.env[name]] as const)
  for (const name of names) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : `http://127.0.0.1:${proxy.port}`
  try {
    const answer = await open({ allowLoopback: true })(`http://127.0.0.1:${port}/`)
    expect(await answer.text()).toBe('direct')
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
  expect(proxy.requests()).toBe(0)
})

test('an answer that is larger than the limit is refused, also if it is small before decompression', async () => {
  const zeros = Buffer.alloc(5_000_000)
  const { port } = await serve((request, response) => {
    if (request.url === '/gzip') response.setHeader('Content-Encoding', 'gzip').end(gzipSync(zeros))
    else response.end(zeros.subarray(0, Number(request.url?.slice(1))))
  })
  const fetch = open({ allowLoopback: true })
  const url = `http://127.0.0.1:${port}`
  expect((await (await fetch(`${url}/1000`, { maxAnswerBytes: 1000 })).arrayBuffer()).byteLength).toBe(1000)
  expect(await reasonOf(fetch(`${url}/1001`, { maxAnswerBytes: 1000 }))).toBe('too large')
  expect(await reasonOf(fetch(`${url}/gzip`))).toBe('too large')
})

test('a service that does not answer, or not to the end, is a timeout', async () => {
  const { port } = await serve((request, response) => {
    if (request.url === '/half') response.write('half')
  })
  const fetch = open({ allowLoopback: true }, undefined, { ...timeLimits, outboundRequestMs: 100 })
  expect(await reasonOf(fetch(`http://127.0.0.1:${port}/none`))).toBe('timeout')
  expect(await reasonOf(fetch(`http://127.0.0.1:${port}/half`))).toBe('timeout')
})

test('refused connections, unknown names, broken connections and certificates have a reason each, with the host', async () => {
  const fetch = open({ allowLoopback: true })
  const tcp = createTcpServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  const { port } = tcp.address() as AddressInfo
  expect(await reasonOf(fetch(`http://127.0.0.1:${port}/`))).toBe('unreachable')
  await new Promise((done) => tcp.close(done))
  expect(await reasonOf(fetch(`http://127.0.0.1:${port}/`))).toBe('refused')
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow(`127.0.0.1:${port}: refused`)

  const unknown: ResolveName = (_, __, callback) => callback(Object.assign(new Error(), { code: 'ENOTFOUND' }), [])
  expect(await reasonOf(open({}, unknown)('https://idp.example.org/'))).toBe('unknown host')

  const plain = await serve(ok)
  expect(await reasonOf(fetch(`https://127.0.0.1:${plain.port}/`))).toBe('tls')

  const dataDir = mkdtempSync(join(tmpdir(), 'outbound-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true }))
  const { cert, key } = certificate({ dataDir })
  const secure = await serve(ok, createSecureServer({ cert: readFileSync(cert), key: readFileSync(key) }))
  expect(await reasonOf(fetch(`https://127.0.0.1:${secure.port}/`))).toBe('certificate')
  expect(secure.requests()).toBe(0)
})
