// The fault proxy itself, between a client that speaks like PostgreSQL's and a server that echoes.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { FaultProxy, messageSession } from '../../support/nodes/fault-proxy.ts'
import { applicationNameOf } from '../../support/nodes/startup-packet.ts'
import { until } from '../../support/program.ts'

/** Long enough for bytes to pass on a busy machine, where the test shows that they do not. */
const silenceMs = 150

function startupPacket(applicationName: string): Buffer {
  const body = Buffer.from(`user\0test\0application_name\0${applicationName}\0\0`)
  const header = Buffer.alloc(8)
  header.writeInt32BE(body.length + 8, 0)
  header.writeInt32BE(196_608, 4)
  return Buffer.concat([header, body])
}

class EchoClient {
  readonly socket: Socket
  received = ''
  error = ''

  constructor(port: number, applicationName: string) {
    this.socket = connect(port, '127.0.0.1')
    this.socket.write(startupPacket(applicationName))
    this.socket.on('data', (bytes) => {
      this.received += bytes.toString('latin1')
    })
    this.socket.on('error', (error: NodeJS.ErrnoException) => {
      this.error = error.code ?? ''
    })
    onTestFinished(() => void this.socket.destroy())
  }

  /** Sends a word and waits until it comes back. */
  async echo(word: string): Promise<void> {
    this.socket.write(word)
    await until(`the echo of ${word}`, () => this.received.endsWith(word))
  }
}

async function echoServer(prefix = '') {
  const received = { text: '', closed: 0 }
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('close', () => received.closed++)
    if (prefix) socket.write(prefix)
    socket.on('data', (bytes) => {
      received.text += bytes.toString('latin1')
      socket.write(bytes)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, received }
}

async function proxied() {
  const server = await echoServer()
  const proxy = await FaultProxy.start(server.port)
  onTestFinished(() => proxy.close())
  return { proxy, ...server }
}

test('the application name is read from a startup packet, also from one that arrives in pieces', () => {
  const packet = startupPacket('roomkeeper messages')
  expect(applicationNameOf(packet)).toBe('roomkeeper messages')
  for (const length of [0, 7, 8, packet.length - 1]) {
    expect(applicationNameOf(packet.subarray(0, length))).toBeUndefined()
  }
  const cancelRequest = Buffer.from([0, 0, 0, 16, 4, 210, 22, 46, 0, 0, 0, 1, 0, 0, 0, 2])
  expect(applicationNameOf(cancelRequest)).toBe('')
})

test('a cut ends the chosen sessions with RST and refuses new ones, until it is mended', async () => {
  const { proxy } = await proxied()
  const [messages, pool] = [new EchoClient(proxy.port, 'messages'), new EchoClient(proxy.port, 'pool')]
  await Promise.all([messages.echo('one'), pool.echo('one')])
  expect(proxy.sessions.map(({ applicationName }) => applicationName).toSorted()).toEqual(['messages', 'pool'])

  proxy.cut(({ applicationName }) => applicationName === 'messages')
  await until('the session is reset', () => messages.error === 'ECONNRESET')
  await pool.echo('two')
  const refused = new EchoClient(proxy.port, 'messages')
  await until('a new session is reset', () => refused.error === 'ECONNRESET')

  proxy.mend()
  await new EchoClient(proxy.port, 'messages').echo('three')
})

test('a swallowing network passes nothing and tells neither side; what was sent arrives when it is mended', async () => {
  const { proxy, received } = await proxied()
  const client = new EchoClient(proxy.port, 'pool')
  await client.echo('one')
  proxy.swallow()
  client.socket.write('two')
  await pause(silenceMs)
  expect(received.text).not.toContain('two')
  expect(client.socket.destroyed).toBe(false)

  const leaving = new EchoClient(proxy.port, 'pool')
  await until('the connection is open', () => !leaving.socket.pending)
  leaving.socket.destroy()
  await pause(silenceMs)
  expect(received.closed, 'the server is not told that a client left').toBe(0)

  proxy.mend()
  await until('the bytes arrive', () => client.received.endsWith('two'))
  await until('the server is told', () => received.closed === 1)
})

test('one direction alone can be swallowed', async () => {
  const { proxy, received } = await proxied()
  const client = new EchoClient(proxy.port, 'pool')
  await client.echo('one')
  proxy.swallow(undefined, 'toClient')
  client.socket.write('two')
  await until('the server has it', () => received.text.endsWith('two'))
  await pause(silenceMs)
  expect(client.received).not.toContain('two')
  proxy.mend()
  await until('the answer arrives', () => client.received.endsWith('two'))
})

test('a delay keeps the order of bytes and holds for the chosen sessions', async () => {
  const { proxy } = await proxied()
  const [slow, quick] = [new EchoClient(proxy.port, 'slow'), new EchoClient(proxy.port, 'quick')]
  await Promise.all([slow.echo('one'), quick.echo('one')])
  const delayMs = 200
  proxy.delay(delayMs, ({ applicationName }) => applicationName === 'slow', 'toServer')
  const started = performance.now()
  for (const word of ['two ', 'three ', 'four']) slow.socket.write(word)
  await quick.echo('two')
  await until('the delayed bytes', () => slow.received.endsWith('two three four'))
  expect(performance.now() - started).toBeGreaterThanOrEqual(delayMs - 5)
})

test('the message session is the one that listens, and it alone can be cut', async () => {
  const { proxy } = await proxied()
  const [messages, pool] = [new EchoClient(proxy.port, 'node'), new EchoClient(proxy.port, 'node')]
  await Promise.all([messages.echo('LISTEN roomkeeper'), pool.echo('SELECT 1')])
  proxy.cut(messageSession)
  await until('the session is reset', () => messages.error === 'ECONNRESET')
  await pool.echo('SELECT 2')
  const next = new EchoClient(proxy.port, 'node')
  await next.echo('SELECT 3')
  next.socket.write('LISTEN roomkeeper')
  await until('a new session is reset when it listens', () => next.error === 'ECONNRESET')
  proxy.mend()
  await new EchoClient(proxy.port, 'node').echo('LISTEN roomkeeper')
})

test('after a change of the target new sessions reach the other server', async () => {
  const { proxy } = await proxied()
  const other = await echoServer('other')
  const before = new EchoClient(proxy.port, 'pool')
  await before.echo('one')
  proxy.setTarget(other.port)
  const after = new EchoClient(proxy.port, 'pool')
  await until('the other server greets', () => after.received.includes('other'))
  await before.echo('two')
  expect(before.received).not.toContain('other')
})
