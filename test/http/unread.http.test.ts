// Tests that unread answers hold bounded memory for a bounded time, and do not affect other clients. [contract 7.22]
import { hash, randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Agent, get, type IncomingMessage, type ServerResponse } from 'node:http'
import { Session } from 'node:inspector/promises'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { countCpuWaits } from '../support/cpu-time.ts'
import { putEndpoints } from '../support/database/endpoint-rows.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { until } from '../support/program.ts'
import { rawFetch } from '../support/raw-http.ts'
import { shortenLimits } from '../support/short-limits.ts'

/** A connection that takes nothing is closed after 9.2 s instead of 30: at the second check. */
const { limits } = shortenLimits(0.2)
const checkMs = limits.unreadAnswerCheckMs

const mebibyte = 1024 * 1024
const maxBytes = 64 * mebibyte
/** The head of an answer is written beside its body. */
const maxHeadBytes = 4096

let harness: Harness
let org: TestOrg
let path: string
/** The path of an answer of about 10 MiB that is made for every request. */
let [length, digest] = [0, '']
beforeAll(async () => {
  harness = await startHarness({}, { limits })
  org = await harness.newOrg()
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    for (let id = 1; id <= 2000; id += 100) {
      // Random, so that compression does not make it short.
      const rows = Array.from({ length: 100 }, (_, i) => ({
        id: id + i,
        name: `Å ${randomBytes(3900).toString('base64')}`,
        version: 1,
      }))
      await kysely
        .insertInto('regions')
        .values(rows.map((row) => ({ org: org.org.key, ...row })))
        .execute()
    }
  })
  path = `/v1/orgs/${org.id}/regions`
  const { bytes } = await rawFetch(harness.url + path, org.key)
  ;[length, digest] = [bytes.length, hash('sha256', bytes)]
  expect(length).toBeGreaterThan(8 * mebibyte)
})
afterAll(() => harness.close())

/** Asks so many times on one connection, and reads nothing: neither that the connection was closed. */
function deaf(at = path, { times = 1, headers = '', isTalking = false } = {}) {
  const socket = connect(Number(new URL(harness.url).port), '127.0.0.1')
  const request = `GET ${at} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${org.key}\r\n${headers}\r\n`
  const timer = setInterval(() => isTalking && socket.write(request), 1000)
  onTestFinished(() => {
    clearInterval(timer)
    socket.destroy()
  })
  socket.on('error', () => {})
  socket.pause()
  socket.write(request.repeat(times))
  return socket
}

const metric = async (name: string) =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec((await harness.call('GET', '/metrics')).text)?.[1])
const unsent = () => metric('roomkeeper_http_unsent_bytes')
const closed = () => metric('roomkeeper_http_unread_closed_total')

/** For waits of seconds: making the metrics takes some milliseconds. */
const slowly = { everyMs: 100, timeoutMs: 200_000 }

const ask = (headers: Record<string, string> = {}) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const options = { agent: false, headers: { authorization: `Bearer ${org.key}`, ...headers } }
    get(harness.url + path, options, resolve).once('error', reject)
  })

/** Reads a quarter of a mebibyte, then nothing for a while, and so on for longer than a connection may take nothing. */
async function readSlowly(): Promise<Buffer> {
  const response = await ask()
  const pieces: Buffer[] = []
  const stepBytes = mebibyte / 4
  let [read, pausedAt] = [0, 0]
  for await (const piece of response) {
    pieces.push(piece)
    read += piece.length
    if (read < pausedAt + stepBytes || pausedAt >= 5 * mebibyte) continue
    pausedAt += stepBytes
    await pause(checkMs * 0.12)
  }
  return Buffer.concat(pieces)
}

test('all of them together hold 64 MiB: those that took nothing for longest make room, and one that reads gets its answer', async () => {
  const before = await closed()
  const clients = []
  let most = 0
  // Seven of them are more than 64 MiB.
  for (let i = 0; i < (isFullForm ? 32 : 9); i++) {
    clients.push(deaf())
    most = Math.max(most, await unsent())
  }
  await until('some to be closed', async () => (await closed()) > before, slowly)
  const reading = rawFetch(harness.url + path, org.key)
  await until(
    'all to be answered',
    async () => {
      most = Math.max(most, await unsent())
      return (await closed()) - before >= clients.length - Math.floor(maxBytes / length) - 1
    },
    slowly,
  )
  expect(hash('sha256', (await reading).bytes)).toBe(digest)
  expect(most).toBeLessThanOrEqual(maxBytes)
  expect(most).toBeGreaterThan(maxBytes - 2 * length)
  expect((await harness.call('GET', '/livez')).status).toBe(200)
  for (const socket of clients) socket.destroy()
  await until('nothing to be held', async () => (await unsent()) === 0)
})

test('a client that takes nothing for 30 seconds is closed, one that reads slowly gets an answer of more than 8 MiB', async () => {
  const before = await closed()
  const slow = readSlowly()
  slow.catch(() => 'the test fails when it waits for the answer')
  const started = performance.now()
  const clients = [
    ...(isFullForm ? [deaf(path)] : []),
    deaf(path, { headers: 'Accept-Encoding: gzip\r\n' }),
    // Each of them sends as many requests ahead as it may, and some go on sending.
    deaf(path, { times: 50, isTalking: true }),
    deaf('/openapi.json', { times: 90 }),
    deaf('/docs', { times: 90 }),
  ]
  // On a busy machine the first is closed before the last is answered.
  const areAnswered = async () => (await unsent()) > 2 * length || (await closed()) > before
  await until('all to be answered', areAnswered, slowly)
  const answeredAt = performance.now()
  const cpuWaitMs = countCpuWaits()
  await until('the first to be closed', async () => (await closed()) > before, slowly)
  expect(performance.now() - started).toBeGreaterThan(checkMs - 100)
  expect(performance.now() - answeredAt, 'milliseconds to the first end').toBeLessThan(2 * checkMs + 5000 + cpuWaitMs())
  await until('all to be closed', async () => (await closed()) === before + clients.length, slowly)
  expect(performance.now() - answeredAt, 'milliseconds to the last end').toBeLessThan(2 * checkMs + 8000 + cpuWaitMs())
  expect(hash('sha256', await slow)).toBe(digest)
  expect(performance.now() - started, 'it took longer than a connection may take nothing').toBeGreaterThan(
    2 * checkMs + 500,
  )
  expect(await closed()).toBe(before + clients.length)
  await until('nothing to be held', async () => (await unsent()) === 0)
})

test.each(isFullForm ? [1, 50] : [50])(
  'a connection that reads nothing holds one answer, and has at most 8 MiB in its write buffers, with %i requests sent',
  async (times) => {
    const responses: ServerResponse[] = []
    const note = (message: unknown) => responses.push((message as { response: ServerResponse }).response)
    subscribe('http.server.request.start', note)
    onTestFinished(() => {
      unsubscribe('http.server.request.start', note)
    })
    const client = deaf(path, { times })
    await until('an answer to be held', async () => (await unsent()) > 0)
    let mostBytes = 0
    for (let i = 0; i < 20; i++) {
      await pause(50)
      const own = responses.filter(({ socket }) => socket?.remotePort === client.localPort)
      mostBytes = Math.max(
        mostBytes,
        own.reduce((sum, { writableLength }) => sum + writableLength, 0),
      )
      expect(await unsent(), 'one answer, however many requests are sent ahead').toBeLessThanOrEqual(length)
    }
    expect(mostBytes).toBeGreaterThan(0)
    expect(mostBytes).toBeLessThanOrEqual(8 * mebibyte + maxHeadBytes)
    client.destroy()
    await until('nothing to be held', async () => (await unsent()) === 0)
  },
)

/** The bytes of all buffers that are in use. */
async function usedBufferBytes(): Promise<number> {
  const session = new Session()
  session.connect()
  await session.post('HeapProfiler.collectGarbage')
  session.disconnect()
  return process.memoryUsage().arrayBuffers
}

test('an idle connection does not keep the memory of its last answer, compressed or not', async () => {
  const [endpoints, connections] = isFullForm ? [5000, 20] : [2500, 10]
  await putEndpoints(harness, org, Array(endpoints).fill({}))
  const list = `${harness.url}${path.replace('/regions', '/endpoints')}`
  const { bytes } = await rawFetch(list, org.key)
  expect(bytes.length).toBeGreaterThan(mebibyte / 4)
  const before = await usedBufferBytes()
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  onTestFinished(() => agent.destroy())
  for (const headers of [{}, { 'accept-encoding': 'gzip' }]) {
    const ask = () => rawFetch(list, org.key, { headers, agent })
    const answers = await Promise.all(Array.from({ length: connections }, ask))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  }
  expect(Object.values(agent.freeSockets).flat()).toHaveLength(connections)
  expect((await usedBufferBytes()) - before, 'less than half of the answers').toBeLessThan(
    (connections / 2) * bytes.length,
  )
})
