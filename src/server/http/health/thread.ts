// Serves the health port in a thread of its own: it answers while the event loop of the server is busy, and reports when that hangs. [contract 7.24]
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import type { ErrorBody, ErrorCode } from '../../../contract/error.ts'
import { isProxyHeader } from '../local-request.ts'
import { requestIdOf } from '../request-id.ts'
import type { HealthRequest, HealthResponse, HealthThreadData, HealthThreadMessage } from './messages.ts'

/** Limits the requests that wait for the server, so that checks which come faster than it answers take no memory. */
const maxWaitingRequests = 100
const maxConnections = 1_000
const connectionCheckMs = 2_000

/** Only headers that say who asks are passed on; the thread itself deals with bodies, connections and compression. */
const isPassedHeader = (name: string): boolean =>
  /^(authorization|cookie|host|origin|accept|sec-fetch-.*)$/.test(name) || isProxyHeader(name)

const { port, host, heartbeat, limits } = workerData as HealthThreadData
const lastBeat = new BigInt64Array(heartbeat)
const waiting = new Map<number, (response: HealthResponse) => void>()
let lastId = 0

const post = (message: HealthThreadMessage) => parentPort?.postMessage(message)

const msSinceLastBeat = (): number => Number((process.hrtime.bigint() - Atomics.load(lastBeat, 0)) / 1_000_000n)

function answer(request: IncomingMessage, response: ServerResponse): void {
  const path = request.url?.split('?')[0]
  response.setHeader('x-request-id', requestIdOf(request.headers))
  response.setHeader('content-type', 'application/json')
  const silenceMs = msSinceLastBeat()
  if (path !== '/livez' && path !== '/readyz' && path !== '/metrics') {
    fail(response, 404, 'NOT_FOUND', `No such path: ${path}. The health port has /livez, /readyz and /metrics.`)
  } else if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    fail(response, 405, 'METHOD_NOT_ALLOWED', `${path} cannot be called with ${request.method}. Use GET or HEAD.`)
  } else if (silenceMs > limits.hungLoopMs) {
    refuse(response, `The server hangs: its event loop has not turned for ${Math.floor(silenceMs / 1000)} s.`)
  } else if (path === '/livez') send(response, 200, '{"ok":true}')
  else if (waiting.size >= maxWaitingRequests) refuse(response, 'Too many health checks wait for an answer.')
  else passOn(request, response)
}

function passOn({ method, url = '/', headers, socket }: IncomingMessage, response: ServerResponse): void {
  const passed = Object.entries(headers).filter(([name]) => isPassedHeader(name))
  const request: HealthRequest = {
    id: ++lastId,
    method: method as 'GET' | 'HEAD',
    url,
    headers: { ...Object.fromEntries(passed), 'x-request-id': `${response.getHeader('x-request-id')}` },
    remoteAddress: socket.remoteAddress ?? '',
  }
  const timer = setTimeout(() => {
    waiting.delete(request.id)
    refuse(response, `The server did not answer within ${limits.healthAnswerMs / 1000} s.`)
  }, limits.healthAnswerMs)
  waiting.set(request.id, ({ status, headers, body }) => {
    clearTimeout(timer)
    waiting.delete(request.id)
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    send(response, status, body)
  })
  post({ kind: 'request', request })
}

function refuse(response: ServerResponse, message: string): void {
  response.setHeader('retry-after', '1')
  fail(response, 503, 'UNAVAILABLE', message)
}

function fail(response: ServerResponse, status: number, code: ErrorCode, message: string): void {
  const requestId = `${response.getHeader('x-request-id')}`
  send(response, status, JSON.stringify({ status, code, message, requestId } satisfies ErrorBody))
}

const send = (response: ServerResponse, status: number, body: string) =>
  response.writeHead(status, { 'content-length': Buffer.byteLength(body) }).end(body)

parentPort?.on('message', (response: HealthResponse) => waiting.get(response.id)?.(response))

const server = createServer(
  {
    headersTimeout: limits.healthIdleMs,
    requestTimeout: limits.healthIdleMs,
    connectionsCheckingInterval: connectionCheckMs,
  },
  answer,
)
server.maxConnections = maxConnections
server.timeout = limits.healthIdleMs
server.on('error', (error: NodeJS.ErrnoException) => post({ kind: 'failed', code: error.code, message: error.message }))
server.listen({ port, host, backlog: 1024 }, () =>
  post({ kind: 'listening', port: (server.address() as AddressInfo).port }),
)
