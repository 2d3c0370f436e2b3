// Holds unread answers, stalled event streams and idle connections open for a time, and checks that memory and others recover.
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { percentile } from '../flood.ts'
import { freePort } from '../free-port.ts'
import { type Reply, send } from '../harness.ts'
import { runCount } from '../long-form.ts'
import type { Site } from '../program.ts'
import { type EnduranceCounts, report } from './counts.ts'
import { inMebibytes, residentBytes } from './server-memory.ts'

const unreadConnectionCount = runCount({ short: 40, full: 100, long: 100 })
const stalledStreams = runCount({ short: 20, full: 40, long: 40 })
const idleConnectionCount = runCount({ short: 40, full: 100, long: 100 })
const maxMemoryFactor = 1.5
/** V8 gives memory back some time after the connections have ended. */
const recoveryMs = 90_000
const regionCount = 400
/** The requests of others are sent alone for this share of the time, before the memory is measured for comparison. */
const warmUpShare = 0.2
/** At least so many requests of others are served in each period, however busy the machine is: memory and refusals depend on their number. */
const minServedCount = 60

/** The server closes a connection that takes nothing for 30 s. A client that reads nothing does not notice, so it begins again by itself. */
const lifetimeMs = 40_000

/** Keeps so many connections open that send the text and read nothing. Each is replaced at the end of its life, if it has one. */
class SilentClients {
  readonly #sockets = new Set<Socket>()
  readonly #port: number
  readonly #text: string
  readonly #lifetimeMs: number | undefined
  #isOpen = true

  constructor(port: number, count: number, text: string, lifetime?: number) {
    this.#port = port
    this.#text = text
    this.#lifetimeMs = lifetime
    for (let i = 0; i < count; i++) this.#open()
  }

  #open(): void {
    const socket = connect(this.#port, '127.0.0.1', () => this.#text && socket.write(this.#text))
    socket.pause()
    this.#sockets.add(socket)
    const end = this.#lifetimeMs === undefined ? undefined : setTimeout(() => socket.destroy(), this.#lifetimeMs)
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(end)
      this.#sockets.delete(socket)
      if (this.#isOpen) setTimeout(() => this.#isOpen && this.#open(), 100)
    })
  }

  close(): void {
    this.#isOpen = false
    for (const socket of this.#sockets) socket.destroy()
  }
}

export async function soak(site: Site, { soakSeconds, seed }: EnduranceCounts): Promise<{ served: number }> {
  const mqttPort = await freePort()
  const server = await site.serve('--rate-limit', '0', '--mqtt-port', String(mqttPort), '--log-level', 'error')
  const { url, org, key } = server
  const path = `/v1/orgs/${org}/regions`
  const { id } = (await send(url, 'POST', path, { key, body: { name: 'renamed' } })).body
  // The server has not read any region yet, so rows that another program inserts are like those of the API.
  await site.sql(`insert into regions (org, id, name, version)
    with recursive numbers (n) as (select 2 union all select n + 1 from numbers where n < ${regionCount})
    select o.key, n, n || '-${'x'.repeat(80)}', 1 from numbers, orgs o where o.id = '${org}'`)
  const rename = (name: string) => send(url, 'PUT', `${path}/${id}`, { key, body: { name } })
  const times: number[] = []
  let refused = 0
  /** Notes how long an answer took. A refusal because of overload tells the caller to come back, and is counted. */
  const expectServed = async (ask: () => Promise<Reply>) => {
    const started = performance.now()
    const { status, headers, text } = await ask()
    if (status === 503 && headers.get('retry-after') === '1') refused++
    else {
      expect(status, text).toBe(200)
      times.push(performance.now() - started)
    }
  }
  const list = () => send(url, 'GET', path, { key })
  for (let i = 0; i < 200; i++) expect((await list()).status).toBe(200)
  const started = await residentBytes(url)
  let renames = 0
  let peak = 0
  /** Sends the requests of others. Each write is an event for the stalled streams. It renames a region instead of creating one, so that answers do not grow. */
  const sendOrdinaryRequests = async (seconds: number) => {
    times.length = 0
    refused = 0
    const end = performance.now() + seconds * 1000
    while (performance.now() < end || times.length < minServedCount) {
      await expectServed(() => rename(`soak ${renames++}`))
      await expectServed(list)
      if (renames % 20 === 0) peak = Math.max(peak, await residentBytes(url))
      await pause(50)
    }
  }
  // The heap of a server in service is larger than that of a new one, because V8 leaves garbage in it until it has grown several times.
  await sendOrdinaryRequests(soakSeconds * warmUpShare)
  const before = await residentBytes(url)

  const port = Number(new URL(url).port)
  const get = (at: string) => `GET ${at} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`
  const clients = [
    new SilentClients(port, unreadConnectionCount, `${get('/openapi.json')}${get(path)}`.repeat(5), lifetimeMs),
    new SilentClients(port, stalledStreams, get(`/v1/orgs/${org}/events`)),
    new SilentClients(port, idleConnectionCount, '', lifetimeMs),
    new SilentClients(port, idleConnectionCount, 'GET /livez HTTP/1.1\r\nHost:', lifetimeMs),
    new SilentClients(mqttPort, idleConnectionCount, '', lifetimeMs),
  ]
  try {
    await sendOrdinaryRequests(soakSeconds)
  } finally {
    for (const some of clients) some.close()
  }
  let after = Number.POSITIVE_INFINITY
  const recoveredBy = performance.now() + recoveryMs
  while (after > before * maxMemoryFactor && performance.now() < recoveredBy) {
    await pause(500)
    await list()
    after = await residentBytes(url)
  }
  expect(times.length, 'most requests of others are served').toBeGreaterThan(refused)
  expect(server.stderr, 'nothing is logged as an error').toBe('')
  report('soak', seed, {
    seconds: soakSeconds,
    'requests of others': times.length,
    'refused because of overload': refused,
    'their p99 ms': Math.round(percentile(times, 99)),
    'memory after the start': inMebibytes(started),
    'before, in service': inMebibytes(before),
    'at its highest': inMebibytes(peak),
    after: inMebibytes(after),
  })
  const memoryFactor = after / before
  expect(memoryFactor, 'memory after, as a multiple of that before').toBeLessThanOrEqual(maxMemoryFactor)
  return { served: times.length }
}
