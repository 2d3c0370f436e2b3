// The PROXY protocol on the MQTT ports: the addresses of clients behind a balancer, and what must not be believed.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { addressMatcher } from '../../src/network/address-list.ts'
import { parseMqttUrl } from '../../src/server/config/option-values.ts'
import { readProxyHeader } from '../../src/server/devices/proxy-protocol/proxy-header.ts'
import { certificate } from '../support/certificate.ts'
import { frames } from '../support/devices/raw-mqtt.ts'
import { freePort } from '../support/free-port.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { until } from '../support/program.ts'
import { shortenLimits } from '../support/short-limits.ts'

/** The header of a balancer is waited for 2.8 s instead of 10. */
const { limits } = shortenLimits(0.1)

let folder: string
let tls: { cert: string; key: string }
let trusting: Harness
let wary: Harness
let mqttsPort: number
const publicMqttUrl = ['mqtt://rooms.example.org:1884', 'mqtts://rooms.example.org:8883']

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roomkeeper-test-'))
  tls = certificate({ dataDir: folder })
  mqttsPort = await freePort()
  const secure = { tlsCert: tls.cert, tlsKey: tls.key, mqttTlsPort: mqttsPort }
  trusting = await startHarness({ trustProxy: ['10.0.0.0/8', '127.0.0.1'], publicMqttUrl, ...secure }, { limits })
  wary = await startHarness({ trustProxy: ['10.0.0.0/8'] })
})
afterAll(async () => {
  await Promise.all([trusting?.close(), wary?.close()])
  rmSync(folder, { recursive: true })
})

const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
const header = (command: number, family: number, body: Buffer) => {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(body.length)
  return Buffer.concat([signature, Buffer.from([command, family]), length, body])
}
const v4 = (source: string) =>
  Buffer.concat([Buffer.from(source.split('.').map(Number)), Buffer.from([127, 0, 0, 1, 0x12, 0x34, 0x07, 0x5b])])
const v6 = Buffer.concat([Buffer.from('20010db8000000000000000000000007', 'hex'), Buffer.alloc(20)])
const extension = Buffer.from([0x04, 0, 3, 1, 2, 3])

let clients = 0
/** The CONNECT of an unknown device: the log has its address. */
function strangerId(): string {
  // Refusals of an address are logged once a minute.
  trusting.clock.advance(61_000)
  return `5a2f4f3e-8f2c-4f5f-9b0e-${String(++clients).padStart(12, '0')}`
}

function open(port: number): { socket: Socket; isClosed: () => boolean } {
  const socket = connectTcp(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let closed = false
  socket
    .on('error', () => {})
    .on('close', () => {
      closed = true
    })
  socket.resume()
  return { socket, isClosed: () => closed }
}

async function loggedAddress({ logged }: Harness, id: string): Promise<unknown> {
  const line = await until('the refusal', () => logged.find((l) => l.msg === 'device refused' && l.endpoint === id))
  return line.address
}

test.each([
  ['an IPv4 address', header(0x21, 0x11, v4('203.0.113.7')), '203.0.113.7'],
  ['an IPv6 address', header(0x21, 0x21, v6), '2001:db8::7'],
  ['extensions', header(0x21, 0x11, Buffer.concat([v4('203.0.113.8'), extension])), '203.0.113.8'],
  ['a health check of the balancer itself', header(0x20, 0x00, Buffer.alloc(0)), '127.0.0.1'],
  ['a local socket', header(0x21, 0x31, Buffer.alloc(216, 1)), '127.0.0.1'],
  ['an unknown protocol', header(0x21, 0x00, extension), '127.0.0.1'],
  ['no header at all', Buffer.alloc(0), '127.0.0.1'],
])('a trusted balancer tells the address of its client: %s', async (_, bytes, expected) => {
  const whole = strangerId()
  open(trusting.mqttPort).socket.write(Buffer.concat([bytes, frames.connect(whole, 'rkd_x')]))
  expect(await loggedAddress(trusting, whole)).toBe(expected)
  const inPieces = strangerId()
  const { socket } = open(trusting.mqttPort)
  socket.setNoDelay(true)
  for (const byte of Buffer.concat([bytes, frames.connect(inPieces, 'rkd_x')])) {
    await new Promise((resolve) => socket.write(Buffer.from([byte]), resolve))
  }
  expect(await loggedAddress(trusting, inPieces)).toBe(expected)
})

/** A balancer that sends its header in the same segment as the first bytes of its client, or before them. */
async function balancer(bytes: Buffer, isTogether: boolean): Promise<number> {
  const server = createServer((client) => {
    client.on('error', () => {})
    client.once('data', (first) => {
      client.pause()
      const { socket } = open(mqttsPort)
      socket.setNoDelay(true)
      const forward = () => void client.pipe(socket).pipe(client)
      if (isTogether) socket.write(Buffer.concat([bytes, first]), forward)
      else socket.write(bytes, () => setTimeout(() => socket.write(first, forward), 50))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

test('over TLS the header comes before the handshake, in the same segment or alone', async () => {
  for (const isTogether of [true, false]) {
    const id = strangerId()
    const port = await balancer(header(0x21, 0x11, v4('203.0.113.9')), isTogether)
    const secure = connectTls({ port, host: '127.0.0.1', ca: readFileSync(tls.cert) })
    onTestFinished(() => void secure.destroy())
    secure.on('error', () => {})
    secure.write(frames.connect(id, 'rkd_x'))
    expect(await loggedAddress(trusting, id)).toBe('203.0.113.9')
  }
  const id = strangerId()
  const direct = connectTls({ port: mqttsPort, host: '127.0.0.1', ca: readFileSync(tls.cert) })
  onTestFinished(() => void direct.destroy())
  direct.on('error', () => {})
  direct.write(frames.connect(id, 'rkd_x'))
  expect(await loggedAddress(trusting, id)).toBe('127.0.0.1')
})

test('a header from anywhere else is not believed, and ends the connection', async () => {
  const id = strangerId()
  const { socket, isClosed } = open(wary.mqttPort)
  socket.write(Buffer.concat([header(0x21, 0x11, v4('203.0.113.7')), frames.connect(id, 'rkd_x')]))
  await until('the end', isClosed)
  expect(wary.logged.filter((line) => line.endpoint === id)).toEqual([])
})

const bad: readonly [string, Buffer][] = [
  ['another version', header(0x11, 0x11, v4('203.0.113.7'))],
  ['an unknown command', header(0x22, 0x11, v4('203.0.113.7'))],
  ['datagrams', header(0x21, 0x12, v4('203.0.113.7'))],
  ['an address that is cut off', header(0x21, 0x21, v4('203.0.113.7'))],
  ['a length past the limit', header(0x21, 0x11, Buffer.alloc(2100))],
  ['version 1', Buffer.from('PROXY TCP4 203.0.113.7 127.0.0.1 4660 1883\r\n')],
]
test.each(bad)('a bad header ends the connection: %s', async (_, bytes) => {
  expect(readProxyHeader(bytes)).toBeUndefined()
  const { socket, isClosed } = open(trusting.mqttPort)
  socket.write(Buffer.concat([bytes, frames.connect(strangerId(), 'rkd_x')]))
  await until('the end', isClosed)
})

test('bytes that are no PROXY header never throw and never count as an address, and the ports go on', async () => {
  for (let i = 0; i < 20_000; i++) {
    const bytes = Buffer.concat([signature.subarray(0, i % 13), randomBytes(i % 60)])
    const found = readProxyHeader(bytes)
    if (typeof found === 'object') expect(bytes.length).toBeGreaterThanOrEqual(found.bytes)
  }
  const rubbish = Array.from({ length: 30 }, (_, i) => {
    const opened = open(i % 2 === 0 ? trusting.mqttPort : mqttsPort)
    opened.socket.end(Buffer.concat([signature.subarray(0, i % 13), randomBytes(100)]))
    return opened
  })
  await until('all are closed', () => rubbish.every(({ isClosed }) => isClosed()))
  const id = strangerId()
  open(trusting.mqttPort).socket.write(Buffer.concat([header(0x21, 0x11, v4('198.51.100.1')), frames.connect(id, 'x')]))
  expect(await loggedAddress(trusting, id)).toBe('198.51.100.1')
  expect(trusting.logged.filter((line) => Number(line.level) >= 50)).toEqual([])
})

test('a header that stops in the middle ends with the connection, or after ten seconds', async () => {
  const { socket, isClosed } = open(trusting.mqttPort)
  socket.write(signature)
  const started = performance.now()
  await until('the end', isClosed)
  expect(performance.now() - started).toBeGreaterThan(limits.mqttConnectMs - 100)
})

test('an enrolment tells the device --public-mqtt-url in place of the ports of this server', async () => {
  const org = await wary.newOrg()
  const enrol = async (harness: Harness, dec: string, serial: string) => {
    const body = JSON.stringify({ code: dec, serial, model: 'NF19B1' })
    const url = `${harness.url}/device/v1/enrol`
    return (await (
      await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    ).json()) as {
      connect: string[]
    }
  }
  const { dec } = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body
  expect((await enrol(wary, dec, 'S1')).connect).toContain(`mqtt://localhost:${wary.mqttPort}`)
  const balanced = await startHarness({ publicMqttUrl, publicUrl: 'https://rooms.example.org' })
  onTestFinished(() => balanced.close())
  const other = await balanced.newOrg()
  const room = (await other.call('POST', '/rooms', { body: { name: 'Fjord' } })).body
  expect((await enrol(balanced, room.dec, 'S2')).connect).toEqual([
    'mqtts://rooms.example.org:8883',
    'wss://rooms.example.org/device/v1/mqtt',
    'mqtt://rooms.example.org:1884',
  ])
})

test('--public-mqtt-url is an MQTT address; --trust-proxy matches addresses, ranges and IPv4 inside IPv6', () => {
  expect(parseMqttUrl('mqtts://a.example')).toBe('mqtts://a.example:8883')
  expect(parseMqttUrl('mqtt://[2001:db8::1]:99/')).toBe('mqtt://[2001:db8::1]:99')
  for (const wrong of ['a.example:1883', 'https://a.example', 'mqtt://', 'mqtt://a/b', 'mqtt://u:p@a']) {
    expect(() => parseMqttUrl(wrong)).toThrow(/^--public-mqtt-url must be an address such as/)
  }
  const matches = addressMatcher(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32'])
  expect(['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.1', '2001:db8::5'].map(matches)).toEqual([true, true, true, true])
  expect(['11.1.2.3', '192.0.2.2', '2001:db9::5', '', undefined].map(matches)).toEqual(Array(5).fill(false))
})
