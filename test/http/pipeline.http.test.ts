// Tests pipelined requests on one connection, also behind an answer that does not end. [contract 7.13]
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { until } from '../support/program.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const request = (org: TestOrg, key: string, path: string) =>
  `GET /v1/orgs/${org.id}${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`

function sendAhead(text: string) {
  const socket = connect(Number(new URL(harness.url).port), '127.0.0.1', () => socket.write(text))
  onTestFinished(() => void socket.destroy())
  const heard = { text: '', isClosed: false }
  socket.on('data', (piece) => {
    heard.text += piece
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    heard.isClosed = true
  })
  return heard
}

const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status)

test('are answered in their order', async () => {
  const org = await harness.newOrg()
  const paths = ['/regions', '/nowhere', '/rooms', '/rooms/7', '/locations']
  const heard = sendAhead(paths.map((path) => request(org, org.key, path)).join(''))
  await until('all answers', () => statuses(heard.text).length === paths.length)
  expect(statuses(heard.text)).toEqual(['200', '404', '200', '404', '200'])
})

test('behind a stream are begun when it ends, and judged by what is true then', async () => {
  const org = await harness.newOrg()
  const key = await org.newKey({ scopes: ['read'] })
  const ahead = request(org, key, '/rooms/notes').repeat(100)
  const heard = sendAhead(request(org, key, '/events') + ahead)
  await until('the stream', () => heard.text.includes('retry: 2000'))
  // The requests that were sent with it have been read by then, too.
  await org.call('POST', '/regions', { body: { name: 'Heard' } })
  await until('the event', () => heard.text.includes('event: structure'))
  const { keys } = (await org.client.keysList()).body
  await org.client.keysDelete({ id: keys.at(-1)?.id ?? '' })
  await until('all answers', () => statuses(heard.text).length === 101)
  expect(new Set(statuses(heard.text).slice(1))).toEqual(new Set(['401']))
})

const openStreams = async () =>
  /^roomkeeper_event_streams (\d+)$/m.exec((await harness.call('GET', '/metrics')).text)?.[1]

test('a reader that leaves before its stream begins takes no place', async () => {
  const org = await harness.newOrg()
  await until('nobody else', async () => (await openStreams()) === '0')
  const keys = await Promise.all(Array.from({ length: 20 }, () => org.newKey({ scopes: ['read'] })))
  const { port } = new URL(harness.url)
  await Promise.all(
    keys.map(async (key) => {
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => {})
      await new Promise<void>((resolve) => socket.write(request(org, key, '/events'), () => resolve()))
      socket.resetAndDestroy()
    }),
  )
  // Each waits for the same look-up, and is answered after it.
  for (const key of keys) expect((await org.call('GET', '/regions', { key })).status).toBe(200)
  await until('no stream', async () => (await openStreams()) === '0')
})

test('while a thousand wait on all connections, a connection with more than three that wait is cut', async () => {
  const orgs = await Promise.all(Array.from({ length: 5 }, () => harness.newOrg()))
  const waitingBehindStream = (org: TestOrg, count: number) =>
    sendAhead(request(org, org.key, '/events') + request(org, org.key, '/regions').repeat(count))
  const isStreaming = (heard: { readonly text: string }) => heard.text.includes('retry: 2000')
  const others = orgs.flatMap((org) => [waitingBehindStream(org, 100), waitingBehindStream(org, 100)])
  await until('the streams', () => others.every(isStreaming))
  const [org] = orgs as [TestOrg]
  const polite = waitingBehindStream(org, 3)
  await until('its stream', () => isStreaming(polite))
  const greedy = waitingBehindStream(org, 4)
  await until('the end of the greedy one', () => greedy.isClosed)
  expect([...others, polite].some(({ isClosed }) => isClosed)).toBe(false)
  expect((await org.call('GET', '/regions')).status).toBe(200)
})

test('more than a hundred that wait end the connection, and the stream before them', async () => {
  const org = await harness.newOrg()
  await until('nobody else', async () => (await openStreams()) === '0')
  const heard = sendAhead(request(org, org.key, '/events') + request(org, org.key, '/rooms').repeat(101))
  await until('the end', () => heard.isClosed)
  await until('room for another', async () => (await openStreams()) === '0')
  expect((await org.call('GET', '/regions')).status).toBe(200)
})
