// The driver reach against nginx with good, expired and self-signed certificates, and against servers that misbehave.
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { certificate } from '../../../../test/support/certificate.ts'
import { openTestSession, sentStatus, whyNot } from '../../../../test/support/drivers/driver-session.ts'
import { loopbackTrusting } from '../../../../test/support/drivers/loopback-network.ts'
import { freePort } from '../../../../test/support/free-port.ts'
import { type Nginx, startNginx } from '../../../../test/support/nginx.ts'
import { ReachDriver, type ReachLimits, usualReachLimits } from './reach.ts'

const quickPolls: ReachLimits = {
  ...usualReachLimits,
  pollSeconds: { min: 0.01, max: 30, usual: 0.05 },
  retryMs: 50,
}
const driver = new ReachDriver(quickPolls)

/** One server of nginx for each certificate, by the days that are left. */
const lifetimes = { good: 90, soon: 20, critical: 2, expired: -1, old: 90 } as const
type Name = keyof typeof lifetimes | 'plain'
const ports = new Map<Name, number>()
const portOf = (name: Name) => ports.get(name) as number
const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-reach-'))
let nginx: Nginx
/** The only authority that the network trusts. */
let authority: string

const pages = `
    location = / { return 200 "<h1>Huddly panel</h1> ready"; }
    location = /moved { return 302 http://127.0.0.1:9/; }
    location = /private { return 401; }
    location = /broken { return 503; }
`

beforeAll(async () => {
  const servers: string[] = []
  for (const [name, lifetimeDays] of Object.entries(lifetimes)) {
    const dataDir = join(folder, name)
    mkdirSync(dataDir)
    const { cert, key } = certificate({ dataDir }, { lifetimeDays })
    if (name === 'good') authority = readFileSync(cert, 'utf8')
    const port = await freePort()
    ports.set(name as Name, port)
    const protocols =
      name === 'old' ? 'ssl_protocols TLSv1.1; ssl_ciphers DEFAULT@SECLEVEL=0;' : 'ssl_protocols TLSv1.3;'
    servers.push(
      `server { listen 127.0.0.1:${port} ssl; ssl_certificate ${cert}; ssl_certificate_key ${key}; ${protocols} ${pages} }`,
    )
  }
  ports.set('plain', await freePort())
  servers.push(`server { listen 127.0.0.1:${portOf('plain')}; ${pages} }`)
  nginx = await startNginx(await freePort(), pages, servers.join('\n'))
})
afterAll(async () => {
  await nginx.stop()
  rmSync(folder, { recursive: true, force: true })
})

const open = (name: Name, options: Record<string, string | number> = {}, fields = {}) =>
  openTestSession(driver, { port: portOf(name), options, ...fields }, loopbackTrusting(authority))

test('a device with a page is alive, with what a person said that it is, and no serial number', async () => {
  const session = await open('good', { model: 'AirMedia 3200', manufacturer: 'Crestron', kind: 'PRESENTATION' })
  expect(session.identity).toMatchObject({ manufacturer: 'Crestron', model: 'AirMedia 3200' })
  expect(session.identity.serial).toBeUndefined()
  expect(session.identity.certificate).toMatchObject({ isTrusted: true })
  const ends = session.identity.certificate?.validUntil.toISOString().slice(0, 10)
  expect(sentStatus(session)).toEqual({
    kind: 'PRESENTATION',
    manufacturer: 'Crestron',
    actions: [],
    localIpAddress: '127.0.0.1',
    faults: [],
    readings: [
      { name: 'responseTime', value: expect.any(Number), unit: 'ms' },
      { name: 'certificateDays', value: lifetimes.good - 1, unit: 'd' },
    ],
    facts: [
      { name: 'httpStatus', text: '200' },
      { name: 'certificate', text: `Valid until ${ends}; a known authority confirms it.` },
      { name: 'tlsVersion', text: 'TLSv1.3' },
    ],
  })
})

test.each([
  ['good', 'tls', []],
  ['soon', 'https', ['certificate.ends WARNING']],
  ['critical', 'tls', ['certificate.ends CRITICAL']],
  ['expired', 'https', ['certificate.ends CRITICAL']],
] as const)('a certificate that is %s is read with %s, self-signed as it is', async (name, check, faults) => {
  const session = await open(name, { check })
  const found = session.status().faults as { code: string; level: string }[]
  expect(found.map(({ code, level }) => `${code} ${level}`)).toEqual(faults)
  expect(session.identity.certificate?.isTrusted).toBe(name === 'good')
})

test('the person chooses how many days before the end of a certificate they are warned', async () => {
  expect((await open('soon', { certificateDays: 10 })).status().faults).toEqual([])
  expect((await open('good', { certificateDays: 100 })).status().faults).toMatchObject([{ level: 'WARNING' }])
})

test('a device that speaks only TLS 1.1 is read', async () => {
  expect(sentStatus(await open('old')).facts).toContainEqual({ name: 'tlsVersion', text: 'TLSv1.1' })
})

test('a certificate that a person confirmed and that has changed is CHANGED', async () => {
  const { identity } = await open('soon')
  await open('soon', {}, { fingerprint: identity.certificate?.fingerprint })
  const other = { port: portOf('critical'), fingerprint: identity.certificate?.fingerprint }
  expect(await whyNot(driver, other, loopbackTrusting(authority))).toMatch(/^CHANGED: /)
})

test.each([
  ['/', {}, []],
  ['/', { expectedText: 'panel</h1> ready' }, []],
  ['/', { expectedText: 'Welcome' }, ['http.text: The page does not contain "Welcome".']],
  ['/private', {}, []],
  ['/missing page', {}, []],
  ['/moved', {}, []],
  ['/moved', { expectedStatus: 200 }, ['http.status: The page answers with status 302 instead of 200.']],
  ['/private', { expectedStatus: 200 }, ['http.status: The page answers with status 401 instead of 200.']],
  ['/private', { expectedStatus: 401 }, []],
  ['/broken', {}, ['http.status: The page answers with status 503 instead of less than 500.']],
] as const)('the page %s with %j has the faults %j', async (path, options, faults) => {
  const session = await open('plain', { check: 'http', path, ...options })
  const found = sentStatus(session).faults as { code: string; text: string }[]
  expect(found.map(({ code, text }) => `${code}: ${text}`)).toEqual(faults)
})

test('a port that accepts connections is alive with tcp; it is CONNECTED whatever it says', async () => {
  const { port } = await misbehaving((socket) => socket.write('220 ready'))
  const session = await openTestSession(driver, { port, options: { check: 'tcp', model: 'Room PC', kind: 'COMPUTER' } })
  expect(sentStatus(session)).toMatchObject({ kind: 'COMPUTER', actions: [], faults: [] })
})

test('wrong options are refused in words', async () => {
  const port = portOf('plain')
  expect(await whyNot(driver, { port, options: { check: 'ping' } })).toBe(
    'UNSUPPORTED: The option check cannot be "ping". Use tcp, tls, http, https.',
  )
  expect(await whyNot(driver, { port, options: { check: 'tcp', pollSeconds: 99 } })).toMatch(
    /^UNSUPPORTED: .*from 0.01/,
  )
})

/** A server that does something for each connection. */
async function misbehaving(
  behave: (socket: Socket) => void,
): Promise<{ server: Server; port: number; close: () => void }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    behave(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(close)
  return { server, port: (server.address() as { port: number }).port, close }
}

/** Sends as long as the other side takes it; returns how much it was. */
function pour(socket: Socket, head: string, block: Buffer): () => number {
  socket.write(head)
  const more = () => {
    for (let count = 0; count < 16 && !socket.destroyed; count++) if (!socket.write(block)) return
    if (!socket.destroyed) setImmediate(more)
  }
  socket.on('drain', more)
  more()
  return () => socket.bytesWritten
}

/** A valid answer that never ends. */
function drip(socket: Socket, head: string): void {
  let sentCount = 0
  const timer = setInterval(() => socket.write(head[sentCount++] ?? 'a'), 10)
  socket.once('close', () => clearInterval(timer))
}

const megabyteBytes = 1024 * 1024
const ok = 'HTTP/1.1 200 OK\r\n'

test.each<[string, (socket: Socket) => unknown, RegExp]>([
  [
    'an endless header line',
    (socket) => pour(socket, `${ok}x: `, Buffer.alloc(1024, 'a')),
    /^UNSUPPORTED: The headers/,
  ],
  ['binary', (socket) => socket.write(Buffer.from('16030100020102', 'hex')), /^UNSUPPORTED: .*not answer with HTTP/],
  ['nothing', () => {}, /^UNREACHABLE: .*did not finish its answer in time/],
  ['a closed connection', (socket) => socket.destroy(), /^UNREACHABLE: /],
  [
    'interim answers without end',
    (socket) => pour(socket, '', Buffer.from('HTTP/1.1 100 Continue\r\n\r\n')),
    /^UNSUPPORTED: .*interim/,
  ],
  ['a header of one byte at a time', (socket) => drip(socket, `${ok}x: `), /^UNREACHABLE: .*did not finish its answer/],
  ['a body of one byte at a time', (socket) => drip(socket, `${ok}\r\n`), /^UNREACHABLE: .*did not finish its answer/],
])('a page that is %s is told in words', async (_, behave, reason) => {
  const { port } = await misbehaving((socket) => void behave(socket))
  const brief = new ReachDriver({ ...quickPolls, checkMs: 1_000 })
  expect(await whyNot(brief, { port, options: { check: 'http', expectedText: 'never there' } })).toMatch(reason)
})

test.each([
  ['large parts', Buffer.alloc(65_536, 'a')],
  ['parts of one byte', Buffer.from('1\r\na\r\n'.repeat(1_000))],
])('an endless page in %s is read in part only', async (_, block) => {
  let sentBytes = () => 0
  const head = block.length > 60_000 ? `${ok}\r\n` : `${ok}Transfer-Encoding: chunked\r\n\r\n`
  const { port } = await misbehaving((socket) => {
    sentBytes = pour(socket, head, block)
  })
  const slow = new ReachDriver({ ...quickPolls, pollSeconds: { min: 30, max: 30, usual: 30 } })
  const session = await openTestSession(slow, { port, options: { check: 'http', expectedText: 'never there' } })
  expect(session.status().faults).toMatchObject([{ code: 'http.text' }])
  expect(sentBytes()).toBeLessThan(16 * megabyteBytes)
})

test('a session reports a page that breaks and recovers, and ends when the port is closed for long', async () => {
  let status = '200 OK'
  const service = await misbehaving((socket) => socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`))
  const brief = new ReachDriver({ ...quickPolls, silenceMs: 300, graceMs: 100 })
  const session = await openTestSession(brief, { port: service.port, options: { check: 'http' } })
  const faults = () => (session.status().faults as { code: string }[]).map(({ code }) => code)
  status = '500 Broken'
  await expect.poll(faults).toEqual(['http.status'])
  status = '200 OK'
  await expect.poll(faults).toEqual([])
  const ended = once(session, 'ended')
  service.close()
  expect((await ended)[0]).toMatchObject({ state: 'UNREACHABLE' })
})
