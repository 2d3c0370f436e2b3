// Devices that send anything but PJLink: the driver stops reading, says what is wrong, and costs little.
import { createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { DriverFailure } from '../../../src/gateway/driver.ts'
import { pjlinkDriver } from '../../../src/gateway/drivers/pjlink/pjlink-driver.ts'
import { DroppingNetwork } from './dropping-network.ts'
import { openProjector, shortPjlinkTimings } from './projector-session.ts'

interface BadDevice {
  readonly port: number
  /** Bytes that it could get rid of. */
  sentBytes: number
}

async function listen(serve: (socket: Socket, device: BadDevice) => void): Promise<BadDevice> {
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    sockets.add(socket)
    serve(socket, device)
  })
  const sockets = new Set<Socket>()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const device = { port: (server.address() as { port: number }).port, sentBytes: 0 }
  return device
}

/** Sends as much as the other side takes. */
function pour(socket: Socket, device: BadDevice, chunk: Buffer): void {
  while (!socket.destroyed) {
    device.sentBytes += chunk.length
    if (!socket.write(chunk)) return void socket.once('drain', () => pour(socket, device, chunk))
  }
}

const openAt = (port: number, timings = {}) =>
  openProjector(pjlinkDriver({ ...shortPjlinkTimings, ...timings }), new DroppingNetwork(), {
    host: '127.0.0.1',
    port,
    options: { pollSeconds: 5 },
  })

const mebibyte = 1024 * 1024

test.each([
  ['an endless line', 'x'],
  ['endless zero bytes', '\0'],
  ['endless line ends', '\r'],
  ['endless greetings', 'PJLINK 0\r'],
  ['endless answers', '%1POWR=1\r'],
  ['endless binary', '\xff\xfe\x00\x01\x80'],
])('%s is cut, whatever its length', async (_, unit) => {
  const chunk = Buffer.from(unit.repeat(Math.ceil(65_536 / unit.length)), 'latin1')
  const device = await listen((socket, self) => pour(socket, self, chunk))
  const failure = await openAt(device.port).catch((error) => error)
  expect(failure).toBeInstanceOf(DriverFailure)
  expect(failure.state).toBe('UNSUPPORTED')
  expect(failure.message).toMatch(/more than PJLink allows/)
  // Buffers of the two sockets take some of it.
  expect(device.sentBytes).toBeLessThan(16 * mebibyte)
})

test('an endless line after a good greeting is cut', async () => {
  const device = await listen((socket, self) => {
    socket.write('PJLINK 0\r')
    socket.once('data', () => pour(socket, self, Buffer.alloc(65_536, 'x')))
  })
  await expect(openAt(device.port)).rejects.toMatchObject({ state: 'UNSUPPORTED' })
})

test.each(['HTTP/1.1 400 Bad Request\r\n', 'SSH-2.0-OpenSSH_9.2\r\n', '\x16\x03\x01\x02\r', 'PJLINK 7\r', '{"a":1}\r'])(
  'another protocol is UNSUPPORTED, and its bytes are not repeated: %j',
  async (greeting) => {
    const { port } = await listen((socket) => socket.write(Buffer.from(greeting, 'latin1')))
    const failure = await openAt(port).catch((error) => error)
    expect(failure.state).toBe('UNSUPPORTED')
    expect(failure.message).toBe('The device at this address and port does not speak PJLink.')
  },
)

test.each([
  ['the greeting', ''],
  ['an answer', 'PJLINK 0\r'],
])('a byte at a time does not make the time for %s longer', async (_, greeting) => {
  const { port } = await listen((socket) => {
    socket.write(greeting)
    const timer = setInterval(() => socket.write('%'), 10)
    socket.once('close', () => clearInterval(timer))
  })
  const failure = await openAt(port, { answerMs: 100, attemptMs: 150 }).catch((error) => error)
  // With a longer time the line would become too long, which is UNSUPPORTED.
  expect(failure.state).toBe('UNREACHABLE')
  expect(failure.message).toMatch(/does not (greet|answer)/)
})

test('a line of 136 bytes is read, and a longer one is cut', async () => {
  const answer = (length: number) => `%1INF2=${'m'.repeat(length - 8)}\r`
  const open = async (length: number) => {
    const { port } = await listen((socket) => {
      socket.write('PJLINK 0\r')
      socket.on('data', (chunk) => {
        const name = chunk.toString().slice(2, 6)
        socket.write(name === 'INF2' ? answer(length) : `%1${name}=1\r`)
      })
    })
    return openAt(port)
  }
  expect(answer(136)).toHaveLength(136)
  expect((await open(136)).session.identity.model).toBe('m'.repeat(64))
  await expect(open(137)).rejects.toMatchObject({ state: 'UNSUPPORTED' })
})

test('a projector that turns bad in a session ends it as UNREACHABLE with the cause, so it is tried again', async () => {
  let isBad = false
  const { port } = await listen((socket) => {
    socket.write(isBad ? Buffer.alloc(200, 'x') : 'PJLINK 0\r')
    socket.on('data', (chunk) => void socket.write(`%1${chunk.toString().slice(2, 6)}=1\r`))
  })
  const { ended } = await openAt(port)
  isBad = true
  const failure = await ended
  expect(failure.state).toBe('UNREACHABLE')
  expect(failure.message).toMatch(/more than PJLink allows/)
})

test('answers to other questions are no answers, and a projector that never answers CLSS is not opened', async () => {
  const { port } = await listen((socket) => {
    socket.write('PJLINK 0\r')
    socket.on('data', () => void socket.write('%1POWR=1\r%1NAME=Other\r'))
  })
  const failure = await openAt(port, { answerMs: 250 }).catch((error) => error)
  expect(failure.state).toBe('UNREACHABLE')
  expect(failure.message).toMatch(/does not answer the question CLSS/)
})

test('a port that nothing listens at is UNREACHABLE', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  await expect(openAt(port)).rejects.toMatchObject({ state: 'UNREACHABLE' })
})
