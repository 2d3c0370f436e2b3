// Answers that are not read: how much of them is held, for how long, and that those who read notice nothing. [contract 7.22]
import { hash, randomBytes } from 'node:crypto'
import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { until } from '../support/program.ts'
import { rawFetch } from '../support/raw-http.ts'

const mebibyte = 1024 * 1024
const maxBytes = 256 * mebibyte

let house: Harness
let org: TestOrg
let path: string
/** Of an answer of about 10 MiB that is made for every request. */
let [length, digest] = [0, '']
beforeAll(async () => {
  house = await startHarness()
  org = await house.newOrg()
  await house.ground.db.systemTransaction(async ({ kysely }) => {
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
  const { bytes } = await rawFetch(house.url + path, org.key)
  ;[length, digest] = [bytes.length, hash('sha256', bytes)]
  expect(length).toBeGreaterThan(8 * mebibyte)
})
afterAll(() => house.close())

/** Asks so many times on one connection, and reads nothing. */
function deaf(times = 1, headers = '') {
  const socket = connect(Number(new URL(house.url).port), '127.0.0.1')
  const state = { isClosed: false, socket }
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  socket.on('close', () => {
    state.isClosed = true
  })
  socket.pause()
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${org.key}\r\n${headers}\r\n`.repeat(times))
  return state
}

const metric = async (name: string) =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec((await house.call('GET', '/metrics')).text)?.[1])
const unsent = () => metric('roomkeeper_http_unsent_bytes')
const closed = () => metric('roomkeeper_http_unread_closed_total')

const ask = (headers: Record<string, string> = {}) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const options = { agent: false, headers: { authorization: `Bearer ${org.key}`, ...headers } }
    get(house.url + path, options, resolve).once('error', reject)
  })

test('an answer of more than 8 MiB reaches a client that reads it, however slowly', async () => {
  const response = await ask()
  const pieces: Buffer[] = []
  let read = 0
  let step = mebibyte
  for await (const piece of response) {
    pieces.push(piece)
    read += piece.length
    if (read < step) continue
    step += mebibyte
    // Longer than a connection may take nothing, and long enough for somebody to look.
    if (step <= 5 * mebibyte) {
      house.clock.advance(25_000)
      await pause(1200)
    }
  }
  expect(hash('sha256', Buffer.concat(pieces))).toBe(digest)
})

test('a client that sends requests ahead and reads nothing holds one answer, and is closed after 30 seconds', async () => {
  await until('nothing to be held', async () => (await unsent()) === 0)
  const before = await closed()
  for (const headers of ['', 'Accept-Encoding: gzip\r\n']) {
    const { isClosed, ...state } = deaf(50, headers)
    expect(isClosed).toBe(false)
    await until('an answer to be held', async () => (await unsent()) > 0)
    for (let i = 0; i < 20; i++) expect(await unsent()).toBeLessThanOrEqual(length)
    house.clock.advance(20_000)
    await pause(1200)
    expect(await closed()).toBe(before + (headers ? 1 : 0))
    house.clock.advance(12_000)
    await until('it to be closed', async () => (await closed()) === before + (headers ? 2 : 1))
    state.socket.resume()
    await until('nothing to be held', async () => (await unsent()) === 0)
  }
})

test('all of them together hold 256 MiB: those that took nothing for longest make room, and one that reads gets its answer', async () => {
  const before = await closed()
  const clients = []
  let most = 0
  for (let i = 0; i < 32; i++) {
    clients.push(deaf())
    most = Math.max(most, await unsent())
    house.clock.advance(100)
  }
  await until('some to be closed', async () => (await closed()) > before, { within: 40_000 })
  const reading = rawFetch(house.url + path, org.key)
  await until('all to be answered', async () => {
    most = Math.max(most, await unsent())
    return (await closed()) - before >= clients.length - Math.floor(maxBytes / length) - 1
  })
  expect(hash('sha256', (await reading).bytes)).toBe(digest)
  expect(most).toBeLessThanOrEqual(maxBytes)
  expect(most).toBeGreaterThan(maxBytes - 2 * length)
  expect((await house.call('GET', '/livez')).status).toBe(200)
  house.clock.advance(31_000)
  await until('all to be closed', async () => (await unsent()) === 0)
  expect(await closed()).toBe(before + clients.length)
}, 120_000)

test('an unread page, which needs no key, is closed too', async () => {
  await until('nothing to be held', async () => (await unsent()) === 0)
  const before = await closed()
  const socket = connect(Number(new URL(house.url).port), '127.0.0.1').on('error', () => {})
  onTestFinished(() => void socket.destroy())
  socket.pause()
  socket.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\nGET /docs HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(45))
  await until(
    'it to be closed',
    async () => {
      house.clock.advance(31_000)
      return (await closed()) === before + 1
    },
    { every: 1200 },
  )
})
