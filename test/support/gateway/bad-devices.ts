// Devices that misbehave in every way that the drivers know, each with the item of the list that leads to it.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { FakeCodec } from '../../../src/simulator/hardware-fakes/codec/fake-codec.ts'
import type { CodecSwitches } from '../../../src/simulator/hardware-fakes/codec/misbehaviour.ts'
import { makeSelfSigned } from '../../../src/simulator/hardware-fakes/self-signed.ts'

export interface BadDevice {
  readonly name: string
  readonly item: object
  /** The states that the item can have. */
  readonly states: readonly string[]
}

const host = '127.0.0.1'
export const badPassword = 'password-of-a-bad-device'

async function listen(serve: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('close', () => sockets.delete(socket))
    serve(socket)
  }).listen(0, host)
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

/** Sends as much as the other side takes. */
function pour(socket: Socket, head: string, chunk: Buffer): void {
  socket.write(head)
  const write = () => {
    while (!socket.destroyed) if (!socket.write(chunk)) return void socket.once('drain', write)
  }
  write()
}

function drip(socket: Socket, head: string): void {
  socket.write(head)
  const timer = setInterval(() => socket.write('a'), 1_000)
  socket.once('close', () => clearInterval(timer))
}

const large = (unit: string) => Buffer.from(unit.repeat(Math.ceil(65_536 / unit.length)), 'latin1')
const notUnderstood = ['UNSUPPORTED', 'UNREACHABLE']

const codecWays: Readonly<Record<string, Partial<CodecSwitches>>> = {
  'an endless message': { isEndless: true },
  'a gigabyte': { sendsGigabyte: true },
  'its answers byte by byte': { dribbles: 'answers' },
  'its handshake byte by byte': { dribbles: 'handshake' },
  'binary data': { sendsBinary: true },
  'a deep JSON bomb': { sendsJsonBomb: true },
  'a wide JSON bomb': { sendsWideBomb: true },
  'an answer to another question': { answersAnother: true },
  'a flood of feedback': { floods: true },
  nothing: { isSilent: true },
}

const lineWays: Readonly<Record<string, (socket: Socket) => void>> = {
  'an endless line': (socket) => pour(socket, '', large('x')),
  'endless binary': (socket) => pour(socket, '', large('\xff\xfe\x00\x01')),
  'endless greetings': (socket) => pour(socket, '', large('PJLINK 0\r')),
  'a greeting of one byte a second': (socket) => drip(socket, ''),
  'an answer of one byte a second': (socket) => drip(socket, 'PJLINK 0\r'),
  'answers to another question': (socket) => {
    socket.write('PJLINK 0\r')
    socket.on('data', () => void socket.write('%1NAME=Other\r'))
  },
}

const ok = 'HTTP/1.1 200 OK\r\n'
const pageWays: Readonly<Record<string, (socket: Socket) => void>> = {
  'an endless header': (socket) => pour(socket, `${ok}x: `, large('a')),
  'an endless page': (socket) => pour(socket, `${ok}\r\n`, large('a')),
  'a page of one byte a second': (socket) => drip(socket, `${ok}\r\n`),
  'interim answers only': (socket) => pour(socket, '', large('HTTP/1.1 100 Continue\r\n\r\n')),
}

/** All ways of misbehaviour; closed at the end of the test. */
export async function startBadDevices(): Promise<BadDevice[]> {
  const certificate = makeSelfSigned()
  const devices: BadDevice[] = []
  const codecItem = ({ port }: FakeCodec) => ({
    driver: 'roomos',
    host,
    port,
    username: 'admin',
    secret: badPassword,
    fingerprint: certificate.fingerprint,
  })
  const startCodec = async (name: string, switches: Partial<CodecSwitches>) => {
    const codec = await FakeCodec.start({ password: badPassword, certificate, serial: name, switches })
    onTestFinished(() => codec.stop())
    return codec
  }
  for (const [name, switches] of Object.entries(codecWays)) {
    const codec = await startCodec(name, switches)
    devices.push({ name: `a codec that sends ${name}`, item: codecItem(codec), states: notUnderstood })
  }
  const target = await startCodec('target', {})
  const redirecting = await startCodec('redirect', { redirectsTo: `wss://${host}:${target.port}/ws` })
  devices.push({ name: 'a codec that redirects', item: codecItem(redirecting), states: ['UNSUPPORTED'] })
  for (const [name, way] of Object.entries(lineWays)) {
    const item = { driver: 'pjlink', host, port: await listen(way), secret: badPassword }
    devices.push({ name: `a projector that sends ${name}`, item, states: notUnderstood })
  }
  for (const [name, way] of Object.entries(pageWays)) {
    const options = { check: 'http', expectedText: 'never there' }
    const item = { driver: 'reach', host, port: await listen(way), options }
    // An endless page is a page: what is wrong with it is a fault of its device.
    devices.push({ name: `a page that is ${name}`, item, states: [...notUnderstood, 'CONNECTED'] })
  }
  const agent = createSocket('udp4').bind(0, host)
  agent.on('message', (_, { port, address }) => agent.send(Buffer.alloc(60_000, 0x30), port, address))
  await once(agent, 'listening')
  onTestFinished(() => void agent.close())
  const item = { driver: 'snmp', host, port: agent.address().port, secret: badPassword }
  devices.push({ name: 'an agent that sends 60 kB of nonsense', item, states: notUnderstood })
  return devices
}
