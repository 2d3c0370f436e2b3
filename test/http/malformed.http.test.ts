// Tests that malformed HTTP is refused, and that a refusal is never inserted into another answer. [contract 7.20]
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { until } from '../support/program.ts'
import { rawRequest } from '../support/raw-http.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const port = () => Number(new URL(harness.url).port)
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
const get = (org: TestOrg, path: string, ...headers: string[]) =>
  `${[`GET /v1/orgs/${org.id}${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${org.key}`, ...headers].join('\r\n')}\r\n\r\n`

function open(text: string) {
  const socket = connect(port(), '127.0.0.1', () => socket.write(text)).setEncoding('utf8')
  onTestFinished(() => void socket.destroy())
  const heard = { text: '', isClosed: false }
  socket.on('data', (piece) => {
    heard.text += piece
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    heard.isClosed = true
  })
  return { socket, heard }
}

/** One error in the shape of all errors, and nothing about it among the errors of the log. */
async function expectRefused(request: string, message?: string) {
  const answer = await rawRequest(port(), request)
  expect(statuses(answer), request).toEqual([400])
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  const error = JSON.parse(body)
  expect(error).toMatchObject({ status: 400, code: 'INVALID_ARGUMENT' })
  expect(head.toLowerCase()).toContain(`x-request-id: ${error.requestId}`)
  if (message) expect(error.message).toContain(message)
  expect(harness.logged.filter((line) => Number(line.level) >= 50)).toEqual([])
}

describe('a request line', () => {
  test.each([
    'PRI *x\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'SETUP rtsp://x/ RTSP/1.0\r\nHost: x\r\n\r\n',
    'GET /livez\r\n\r\n',
    'FROB / HTTP/1.1\r\nHost: x\r\n\r\n',
  ])('that is not HTTP/1 is a 400: %j', (request) => expectRefused(request))
})

describe('the Host header', () => {
  test('is sent once with HTTP/1.1: two of them, or none, are a 400', async () => {
    await expectRefused('GET /livez HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', 'more than one Host header')
    await expectRefused('GET /livez HTTP/1.1\r\nHost: x\r\nhOST: x\r\n\r\n', 'more than one Host header')
    await expectRefused('GET /livez HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n', 'more than one Host header')
    await expectRefused('GET /livez HTTP/1.1\r\n\r\n', 'the Host header is missing')
    await expectRefused('POST /v1/orgs/x/regions HTTP/1.1\r\nContent-Length: 0\r\n\r\n', 'the Host header is missing')
  })

  test('may be left out with HTTP/1.0', async () => {
    expect(statuses(await rawRequest(port(), 'GET /livez HTTP/1.0\r\n\r\n'))).toEqual([200])
  })
})

describe('something malformed behind a request', () => {
  const rubbish = '\0garbage\r\n\r\n'

  test('does not get into a stream of events: that goes on, and the refusal follows its end', async () => {
    const org = await harness.newOrg()
    const key = await org.newKey({ scopes: ['read'] })
    const { socket, heard } = open(get({ ...org, key }, '/events'))
    await until('the stream', () => heard.text.includes('retry: 2000'))
    for (let i = 0; i < 3; i++) await new Promise((resolve) => socket.write(rubbish, resolve))
    await org.call('POST', '/regions', { body: { name: 'Heard' } })
    await until('the event', () => heard.text.includes('event: structure'))
    expect(statuses(heard.text)).toEqual([200])
    expect(heard.isClosed).toBe(false)
    const { keys } = (await org.client.keysList()).body
    await org.client.keysDelete({ id: keys.at(-1)?.id ?? '' })
    await until('the end', () => heard.isClosed)
    const [stream = '', refusal = ''] = heard.text.split(/(?=HTTP\/1\.1 400)/)
    expect(stream).toMatch(/\r\n0\r\n\r\n$/)
    expect(statuses(refusal)).toEqual([400])
  })

  test('waits for the answers to the requests before it', async () => {
    const org = await harness.newOrg()
    const { heard } = open(get(org, '/regions') + get(org, '/rooms/7') + get(org, '/locations') + rubbish)
    await until('the end', () => heard.isClosed)
    expect(statuses(heard.text)).toEqual([200, 404, 200, 400])
  })

  test('does not take the place of the answer to a last request', async () => {
    const org = await harness.newOrg()
    const { heard } = open(get(org, '/regions', 'Connection: close') + get(org, '/rooms'))
    await until('the end', () => heard.isClosed)
    expect(statuses(heard.text)).toEqual([200])
    expect(heard.text).toMatch(/\{"regions":\[\]\}$/)
  })
})

describe('a body that cannot be read', () => {
  const chunked = (...headers: string[]) =>
    `${['POST /device/v1/enrol HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'Transfer-Encoding: chunked', ...headers].join('\r\n')}\r\n\r\n`

  test('is a 400', () => expectRefused(`${chunked()}zz\r\n`))

  test('gets no second answer if the request was refused before', async () => {
    const { heard, socket } = open('POST /nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n')
    await until('the answer', () => statuses(heard.text).length === 1)
    socket.write('zz\r\n')
    await until('the end', () => heard.isClosed)
    expect(statuses(heard.text)).toEqual([404])
  })
})

test('a client that goes on sending rubbish is cut off', async () => {
  const { heard, socket } = open('rubbish\r\n\r\n')
  const timer = setInterval(() => socket.write('more rubbish\r\n'), 100)
  onTestFinished(() => clearInterval(timer))
  socket.on('end', () => {})
  await until('the end', () => heard.isClosed)
  expect(statuses(heard.text)).toEqual([400])
})
