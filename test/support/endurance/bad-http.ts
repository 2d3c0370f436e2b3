// Sends malformed, damaged and refused HTTP requests by the thousand, and checks that the server answers on, in bounded memory.
import { connect } from 'node:net'
import { expect } from 'vitest'
import { freePort } from '../free-port.ts'
import { send } from '../harness.ts'
import type { Server, Site } from '../program.ts'
import { type EnduranceCounts, report } from './counts.ts'
import { SeededChoices } from './random.ts'
import { inMebibytes, mebibyte, residentBytes } from './server-memory.ts'

const parallelConnections = 16
const requestsPerConnection = 20
/** Some requests announce a body that never comes; the client gives up then. */
const maxConnectionMs = 1500
/** V8 collects garbage late, so the memory varies by this much without a leak. */
const maxGrowthBytes = 96 * mebibyte

const paths = [
  '/regions',
  '/rooms',
  '/endpoints',
  '/rooms/1',
  '/endpoints/nobody/config',
  '/keys',
  '/users',
  '/audit/logs',
]
const bodies = [
  '{',
  '[]',
  'null',
  '{"name":1}',
  '{"name":"x","unknown":{}}',
  '{"__proto__":{"name":"x"}}',
  `"${'x'.repeat(5000)}"`,
]

export interface BadClientsServer {
  readonly server: Server
  readonly mqttPort: number
}

/** A server for bad clients: it limits none of them, and logs errors only. */
export async function serveBadClients(site: Site): Promise<BadClientsServer> {
  const mqttPort = await freePort()
  const unlimited = ['--rate-limit', '0', '--auth-failure-limit', '0']
  return { server: await site.serve(...unlimited, '--mqtt-port', String(mqttPort), '--log-level', 'error'), mqttPort }
}

/** One request that is not a good one, as bytes. */
function badRequest(choices: SeededChoices, { org, key }: { org: string; key: string }): Buffer {
  const path = `/v1/orgs/${choices.pick([org, org, 'nobody', '%00', '..%2f'])}${choices.pick(paths)}`
  const method = choices.pick(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'])
  const token = choices.pick([key, key, key.slice(0, -1), 'rk_', ''])
  const body = method === 'GET' || method === 'HEAD' ? '' : choices.pick(bodies)
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: x',
    ...(token ? [`Authorization: Bearer ${token}`] : []),
    ...(body ? [`Content-Type: ${choices.pick(['application/json', 'text/plain', 'x'])}`] : []),
    ...(body ? [`Content-Length: ${Buffer.byteLength(body)}`] : []),
  ]
  const whole = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
  switch (choices.below(10)) {
    case 0:
      return choices.damage(whole)
    case 1:
      return Buffer.concat([choices.bytes(1 + choices.below(200)), Buffer.from('\r\n\r\n')])
    case 2:
      return Buffer.from(`GET ${path}?pageSize=${choices.below(1e9)}&from=x HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n`)
    case 3:
      return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(choices.below(20_000))}\r\n\r\n`)
    default:
      return whole
  }
}

/** Sends requests ahead on one connection, and counts the answers by their status. */
const sendAhead = (port: number, requests: Buffer, count: number, statuses: Map<string, number>) =>
  new Promise<void>((resolve) => {
    let answers = 0
    let rest = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(requests))
    const timer = setTimeout(() => socket.destroy(), maxConnectionMs)
    socket.setEncoding('latin1')
    socket.on('data', (piece) => {
      const text = rest + piece
      for (const [, status = ''] of text.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
        answers++
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
      // A status line may be cut in two; one that was counted is not kept.
      rest = /H[^\n ]*( \d{0,3})?$/.exec(text.slice(-12))?.[0] ?? ''
      if (answers >= count) socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })

export async function badHttp(
  server: Server,
  { badHttpRequests, seed }: EnduranceCounts,
): Promise<{ answers: number; memoryFactor: number }> {
  const choices = new SeededChoices(seed)
  const { url, org, key } = server
  const statuses = new Map<string, number>()
  const answered = () => [...statuses.values()].reduce((sum, count) => sum + count, 0)
  const sendUntil = (total: number) =>
    Promise.all(
      Array.from({ length: parallelConnections }, async () => {
        while (answered() < total) {
          const requests = Array.from({ length: requestsPerConnection }, () => badRequest(choices, { org, key }))
          await sendAhead(Number(new URL(url).port), Buffer.concat(requests), requests.length, statuses)
          expect(server.isRunning, server.stderr).toBe(true)
        }
      }),
    )
  const started = performance.now()
  await sendUntil(badHttpRequests / 4)
  const before = await residentBytes(url)
  await sendUntil(badHttpRequests)
  const seconds = (performance.now() - started) / 1000
  const after = await residentBytes(url)
  expect(
    [...statuses.keys()].filter((status) => status.startsWith('5') && status !== '501' && status !== '503'),
  ).toEqual([])
  expect(server.stderr, 'nothing is logged as an error').toBe('')
  expect((await send(url, 'GET', `/v1/orgs/${org}/regions`, { key })).status).toBe(200)
  expect(after).toBeLessThan(before * 1.5 + maxGrowthBytes)
  report('bad HTTP', seed, {
    answers: answered(),
    seconds: Math.round(seconds),
    statuses: [...statuses]
      .sort()
      .map(([status, count]) => `${status}: ${count}`)
      .join(' '),
    'memory after a quarter': inMebibytes(before),
    'memory at the end': inMebibytes(after),
  })
  return { answers: answered(), memoryFactor: after / before }
}
