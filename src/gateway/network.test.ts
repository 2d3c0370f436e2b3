// Connections of drivers: which addresses they reach, by which address they connect, and which certificates they accept.
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { certificate } from '../../test/support/certificate.ts'
import type { ResolveName } from '../network/name-lookups.ts'
import { DriverFailure } from './driver.ts'
import { GatewayNetwork } from './network.ts'
import { parseRange, Reach } from './reach.ts'

/** Answers the addresses of each row in turn. */
const resolvesTo = (...rows: string[][]): ResolveName & { asked: number } => {
  const resolve = ((_, __, callback) => {
    const row = rows[Math.min(resolve.asked++, rows.length - 1)] as string[]
    callback(
      null,
      row.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }) as ResolveName & { asked: number }
  resolve.asked = 0
  return resolve
}

const networkOf = (ranges: string[], resolveName?: ResolveName) =>
  new GatewayNetwork(new Reach(ranges.map(parseRange)), resolveName).forAttempt()

async function listen(server: Server, sockets: Socket[] = []): Promise<number> {
  server.on('connection', (socket) => sockets.push(socket.on('error', () => {})))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const to = (host: string, port: number, timeoutMs = 5_000) => ({
  host,
  port,
  timeoutMs,
  signal: new AbortController().signal,
})

const failureOf = async (work: Promise<unknown>): Promise<DriverFailure> => {
  const error = await work.then(
    () => undefined,
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(DriverFailure)
  return error as DriverFailure
}

function makeCertificate() {
  const dataDir = mkdtempSync(join(tmpdir(), 'roomkeeper-certificate-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true }))
  const files = certificate({ dataDir })
  return { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') }
}

/** A device with TLS that keeps what it is sent. */
async function tlsDevice() {
  const pair = makeCertificate()
  const received: string[] = []
  const server = createTlsServer(pair, (socket) => {
    socket.on('error', () => {}).on('data', (data) => received.push(data.toString()))
  })
  return { port: await listen(server), received, cert: pair.cert }
}

test('an address outside of --reach is refused before a connection, and the reason names both', async () => {
  const sockets: Socket[] = []
  const port = await listen(createServer(), sockets)
  const network = networkOf(['10.20.0.0/16'])
  for (const host of ['127.0.0.1', '::ffff:127.0.0.1', '[::ffff:7f00:1]', '169.254.169.254', '8.8.8.8']) {
    const { state, message } = await failureOf(network.connect(to(host, port)))
    expect(state).toBe('UNREACHABLE')
    expect(message).toContain('10.20.0.0/16')
    expect(message).toContain(host.replace(/[[\]]/g, ''))
  }
  // These are forms of 127.0.0.1 that only the resolver of the system understands.
  for (const host of ['localhost', '127.1', '0x7f.1', '2130706433']) await failureOf(network.connect(to(host, port)))
  expect(sockets).toEqual([])
})

test('a name is resolved once for a connection, and a name that leads to loopback the second time is refused', async () => {
  const sockets: Socket[] = []
  const port = await listen(createServer(), sockets)
  const resolveName = resolvesTo(['127.0.0.2'], ['127.0.0.1'])
  const network = networkOf(['127.0.0.2'], resolveName)
  // 127.0.0.2 stands for a device here: nothing listens there.
  expect((await failureOf(network.connect(to('codec.example', port)))).message).toContain('refuses connections')
  expect(resolveName.asked).toBe(1)
  const { message } = await failureOf(network.connect(to('codec.example', port)))
  expect(message).toContain(
    'codec.example is 127.0.0.1, which is outside the reach of this gateway. Its option --reach',
  )
  expect(sockets).toEqual([])
})

test('a name with several addresses leads to one that the gateway may reach', async () => {
  const network = networkOf(['10.20.0.0/16', 'fd12::/16'], resolvesTo(['127.0.0.1', 'fd12::7', '10.20.4.17']))
  expect(await network.resolve('codec.example')).toBe('10.20.4.17')
  expect(await network.resolve('::ffff:10.20.4.17')).toBe('10.20.4.17')
  expect(await network.resolve('fd12::9')).toBe('fd12::9')
})

test('a signal ends an attempt, and a connection that is open', async () => {
  const sockets: Socket[] = []
  const port = await listen(createServer(), sockets)
  const network = networkOf(['127.0.0.1'])
  const lifetime = new AbortController()
  const socket = await network.connect({ ...to('127.0.0.1', port), signal: lifetime.signal })
  const closed = once(socket, 'close')
  lifetime.abort()
  await closed
  await expect(network.connect({ ...to('127.0.0.1', port), signal: lifetime.signal })).rejects.toThrow('aborted')
  const neverResolves = networkOf(['127.0.0.1'], () => {})
  const attempt = new AbortController()
  const opening = neverResolves.connect({ ...to('codec.example', port), signal: attempt.signal })
  attempt.abort()
  await expect(opening).rejects.toThrow('aborted')
})

test('a device that does not answer in time is UNREACHABLE, in words', async () => {
  const port = await listen(createServer())
  const { state, message } = await failureOf(networkOf(['127.0.0.1']).connectTls(to('127.0.0.1', port, 300)))
  expect(state).toBe('UNREACHABLE')
  expect(message).toContain('did not answer within')
  const plain = await listen(createServer((socket) => socket.end('HTTP/1.0 400 Bad Request\r\n\r\n')))
  expect((await failureOf(networkOf(['127.0.0.1']).connectTls(to('127.0.0.1', plain)))).state).toBe('UNREACHABLE')
})

test('a self-signed certificate needs its fingerprint; another one is refused before anything is sent', async () => {
  const device = await tlsDevice()
  const network = networkOf(['127.0.0.1'])
  const unknown = await failureOf(network.connectTls(to('127.0.0.1', device.port)))
  const fingerprint = network.shownCertificate?.fingerprint ?? ''
  expect(fingerprint).toMatch(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/)
  expect(network.shownCertificate?.isTrusted).toBe(false)
  expect(unknown.state).toBe('CHANGED')
  expect(unknown.message).toContain(`Use Test and save its fingerprint: ${fingerprint}`)

  const other = fingerprint.replace(/^../, fingerprint.startsWith('00') ? '01' : '00')
  const changed = await failureOf(network.connectTls({ ...to('127.0.0.1', device.port), fingerprint: other }))
  expect(changed.state).toBe('CHANGED')
  expect(changed.message).toContain(fingerprint)
  expect(changed.message).toContain(other)
  expect([...changed.message].length).toBeLessThanOrEqual(255)

  const { socket, certificate: shown } = await network.connectTls({ ...to('127.0.0.1', device.port), fingerprint })
  expect(shown.fingerprint).toBe(fingerprint)
  socket.end('password')
  await expect.poll(() => device.received).toEqual(['password'])
})

test('a certificate of a known authority needs no fingerprint for its host, and one for any other host', async () => {
  const device = await tlsDevice()
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, device.cert])
  onTestFinished(() => setDefaultCACertificates(before))
  const network = networkOf(['127.0.0.1'], resolvesTo(['127.0.0.1']))
  const { socket, certificate: shown } = await network.connectTls(to('127.0.0.1', device.port))
  expect(shown.isTrusted).toBe(true)
  socket.destroy()
  // The certificate is for 127.0.0.1 and for no name.
  expect((await failureOf(network.connectTls(to('codec.example', device.port)))).state).toBe('CHANGED')
})

const sourceNetworkOf = (resolveName: ResolveName, ranges: string[] = []) =>
  new GatewayNetwork(new Reach(ranges.map(parseRange), ['broker.example']), resolveName).forSource()

test('a name of --reach-host leads sources to public addresses, and the network of items does not have it', async () => {
  const resolveName = resolvesTo(['10.0.0.1', '8.8.8.8'])
  expect(await sourceNetworkOf(resolveName).resolve('broker.example')).toBe('8.8.8.8')
  const items = new GatewayNetwork(new Reach([], ['broker.example']), resolveName).forAttempt()
  expect((await failureOf(items.resolve('broker.example'))).message).toContain('outside the reach of this gateway')
  const other = await failureOf(sourceNetworkOf(resolvesTo(['8.8.8.8'])).resolve('other.example'))
  expect(other.message).toContain('Start the gateway with --reach-host other.example')
  await failureOf(sourceNetworkOf(resolvesTo([])).resolve('8.8.8.8'))
})

test('a name of --reach-host that leads to loopback or a private address the second time is refused, with TLS and without', async () => {
  const sockets: Socket[] = []
  const port = await listen(createServer(), sockets)
  for (const inside of ['127.0.0.1', '::ffff:127.0.0.1', '10.0.0.1', '169.254.169.254']) {
    const resolveName = resolvesTo(['8.8.8.8'], [inside])
    const network = sourceNetworkOf(resolveName)
    expect(await network.resolve('broker.example')).toBe('8.8.8.8')
    const target = to('broker.example', port)
    for (const connect of [() => network.connect(target), () => network.connectTls(target)]) {
      const { message } = await failureOf(connect())
      expect(message).toContain('outside the reach of this gateway')
    }
    expect(resolveName.asked).toBe(3)
  }
  expect(sockets).toEqual([])
})

test('sources connect without TLS to private addresses of --reach only', async () => {
  const port = await listen(createServer())
  const socket = await sourceNetworkOf(resolvesTo(['127.0.0.1']), ['127.0.0.1']).connect(to('broker.example', port))
  socket.destroy()
  const { state, message } = await failureOf(
    sourceNetworkOf(resolvesTo(['8.8.8.8'])).connect(to('broker.example', port)),
  )
  expect(state).toBe('UNSUPPORTED')
  expect(message).toContain('with TLS only')
})

test('a client certificate is shown to the source, and one that cannot be read is refused in words', async () => {
  const [own, client] = [makeCertificate(), makeCertificate()]
  const shown: string[] = []
  const server = createTlsServer({ ...own, requestCert: true, rejectUnauthorized: false }, (peer) => {
    peer.on('error', () => {})
    shown.push(peer.getPeerX509Certificate()?.fingerprint256 ?? 'none')
  })
  const port = await listen(server)
  const network = networkOf(['127.0.0.1'])
  const options = { ...to('127.0.0.1', port), authority: own.cert }
  const { socket, certificate: theirs } = await network.connectTls({
    ...options,
    clientCertificate: client.cert,
    clientKey: client.key,
  })
  expect(theirs.isTrusted).toBe(true)
  await expect.poll(() => shown).toEqual([new X509Certificate(client.cert).fingerprint256])
  socket.destroy()
  for (const wrong of [
    { clientCertificate: 'nonsense', clientKey: client.key },
    { clientCertificate: client.cert, clientKey: own.key },
  ]) {
    const { state, message } = await failureOf(network.connectTls({ ...options, ...wrong }))
    expect(state).toBe('UNSUPPORTED')
    expect(message).toContain('PEM')
    expect(message).not.toContain('nonsense')
  }
})
