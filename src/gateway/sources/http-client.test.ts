// Requests of source drivers: what is refused, what is repeated (nothing), and what an attacker in between gets.
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { ResolveName } from '../../network/name-lookups.ts'
import { makeSelfSigned } from '../../simulator/hardware-fakes/self-signed.ts'
import { GatewayNetwork } from '../network.ts'
import { Reach } from '../reach.ts'
import { HttpFailure, SourceHttp } from './http-client.ts'

const loopback = ['127.0.0.1/32']

/** A server that counts its connections and keeps the requests. */
async function serve(answer: RequestListener, pair?: { cert: string; key: string }) {
  const requests: string[] = []
  const sockets: Socket[] = []
  const listener: RequestListener = (request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`.trim())
    answer(request, response)
  }
  const server = pair ? createTlsServer(pair, listener) : createServer(listener)
  server.on(pair ? 'secureConnection' : 'connection', (socket: Socket) => sockets.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { port: (server.address() as AddressInfo).port, requests, sockets }
}

function httpOf(
  url: string,
  more: { fingerprint?: string; authority?: string; reach?: Reach; resolveName?: ResolveName } = {},
) {
  const { reach = new Reach(loopback), resolveName, ...options } = more
  const end = new AbortController()
  const network = new GatewayNetwork(reach, resolveName).forSource()
  const http = new SourceHttp({ url, network, signal: end.signal, ...options })
  onTestFinished(() => http.close())
  return { http, end }
}

const failureOf = async (work: Promise<unknown>): Promise<HttpFailure> => {
  const error = await work.then(
    () => undefined,
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(HttpFailure)
  return error as HttpFailure
}

test('an answer has its status, headers, text and the wait that the source asks for, whatever the status', async () => {
  const { port, requests } = await serve((_, response) => {
    response.writeHead(429, { 'retry-after': '7', 'content-type': 'text/plain' }).end('slow down')
  })
  const { http } = httpOf(`http://127.0.0.1:${port}/api/`)
  const answer = await http.send({ path: '/v1/rooms?pageSize=5', headers: { authorization: 'Bearer key' } })
  expect(answer).toMatchObject({ status: 429, retryAfterMs: 7_000, text: 'slow down' })
  expect(answer.headers.get('content-type')).toBe('text/plain')
  expect(requests).toEqual(['GET /api/v1/rooms?pageSize=5 Bearer key'])
})

test('a redirect is refused, and the key does not go to its target', async () => {
  const target = await serve((_, response) => void response.end('stolen'))
  const { port } = await serve((_, response) => {
    response.writeHead(302, { location: `http://127.0.0.1:${target.port}/` }).end()
  })
  const { http } = httpOf(`http://127.0.0.1:${port}`)
  const { state, message } = await failureOf(http.send({ path: '/', headers: { authorization: 'Bearer key' } }))
  expect(state).toBe('FAILING')
  expect(message).toContain('Redirects are not followed')
  expect(target.requests).toEqual([])
})

test('an answer that is too large, too slow, broken off or not HTTP ends in words', async () => {
  const { port } = await serve(({ url }, response) => {
    if (url === '/large') return void response.end(Buffer.alloc(100_000))
    if (url === '/broken')
      return void response.writeHead(200, { 'content-length': 10 }).write('abc', () => response.destroy())
    const timer = setInterval(() => response.write('a'), 20)
    response.once('close', () => clearInterval(timer))
  })
  const { http } = httpOf(`http://127.0.0.1:${port}`)
  const large = await failureOf(http.send({ path: '/large', maxAnswerBytes: 50_000 }))
  expect([large.state, large.message]).toEqual([
    'FAILING',
    `127.0.0.1:${port} sent an answer of more than 50000 bytes.`,
  ])
  const slow = await failureOf(http.send({ path: '/drips', timeoutMs: 300 }))
  expect([slow.state, slow.wasSent]).toEqual(['UNREACHABLE', true])
  expect(slow.message).toContain('did not answer within')
  const broken = await failureOf(http.send({ path: '/broken' }))
  expect([broken.state, broken.wasSent]).toEqual(['UNREACHABLE', true])
  expect(broken.message).toContain('closed the connection before its answer was complete')
})

test('a request that must not be repeated goes out once over a connection of its own, and a failure says whether it went out', async () => {
  const { port, requests, sockets } = await serve((request, response) => {
    if (request.method === 'POST' && request.url === '/lost') return void request.socket.destroy()
    response.end('{}')
  })
  const { http } = httpOf(`http://127.0.0.1:${port}`)
  for (let i = 0; i < 3; i++) await http.send({ path: '/' })
  const forReading = sockets.length
  expect(forReading).toBeLessThan(3)
  for (let i = 0; i < 3; i++) await http.send({ method: 'POST', path: '/done', body: '{}' })
  expect(sockets).toHaveLength(forReading + 3)
  expect((await failureOf(http.send({ method: 'POST', path: '/lost', body: '{}' }))).wasSent).toBe(true)
  expect(requests.filter((line) => line.startsWith('POST'))).toEqual([
    'POST /done',
    'POST /done',
    'POST /done',
    'POST /lost',
  ])
  const closed = await serve(() => {})
  const other = httpOf(`http://127.0.0.2:${closed.port}`, { reach: new Reach(['127.0.0.2/32']) })
  const refused = await failureOf(other.http.send({ method: 'POST', path: '/', body: '{}' }))
  expect([refused.state, refused.wasSent]).toEqual(['UNREACHABLE', false])
  expect(refused.message).toContain('refuses connections')
})

test('the key goes only to a certificate that a person, or an authority of their own, has confirmed', async () => {
  const [pair, other] = [makeSelfSigned(), makeSelfSigned()]
  const { port, requests } = await serve((_, response) => void response.end('{}'), pair)
  const url = `https://127.0.0.1:${port}`
  const request = { path: '/', headers: { authorization: 'Bearer key' } }
  for (const options of [{}, { fingerprint: other.fingerprint }, { authority: other.cert }]) {
    const failure = await failureOf(httpOf(url, options).http.send(request))
    expect([failure.state, failure.wasSent]).toEqual(['CHANGED', false])
  }
  const unreadable = await failureOf(httpOf(url, { authority: 'not a certificate' }).http.send(request))
  expect(unreadable.state).toBe('UNSUPPORTED')
  expect(unreadable.message).toContain('PEM')
  expect(requests).toEqual([])
  for (const options of [{ fingerprint: pair.fingerprint }, { authority: pair.cert }]) {
    const { http } = httpOf(url, options)
    expect((await http.send(request)).status).toBe(200)
    expect(http.certificate).toMatchObject({ fingerprint: pair.fingerprint })
  }
})

test('without TLS a request goes to private addresses only, and an ended source sends nothing', async () => {
  const resolveName: ResolveName = (_, __, callback) => callback(null, [{ address: '8.8.8.8', family: 4 }])
  const reach = new Reach(loopback, ['pulse.example'])
  const { http } = httpOf('http://pulse.example', { reach, resolveName })
  const { state, message, wasSent } = await failureOf(http.send({ path: '/' }))
  expect([state, wasSent]).toEqual(['UNSUPPORTED', false])
  expect(message).toContain('with TLS only')
  const { port, requests } = await serve((_, response) => void response.end('{}'))
  const stopped = httpOf(`http://127.0.0.1:${port}`)
  stopped.end.abort()
  await expect(stopped.http.send({ path: '/' })).rejects.toThrow('aborted')
  expect(requests).toEqual([])
})
