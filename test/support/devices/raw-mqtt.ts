// MQTT written by hand, for what a library would not send: frames in one segment, in pieces, or half.
import { connect, type Socket } from 'node:net'
import { readFixedHeader } from '../../../src/server/devices/mqtt/packets/frame-reader.ts'

export const text = (value: string | Buffer): Buffer => {
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])
}

export function frame(first: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const length: number[] = []
  for (let rest = body.length; rest > 0 || length.length === 0; rest >>= 7) {
    length.push((rest & 127) | (rest > 127 ? 128 : 0))
  }
  return Buffer.concat([Buffer.from([first, ...length]), body])
}

const number = (value: number) => Buffer.from([value >> 8, value & 255])

export const frames = {
  connect: (username: string, password: string, keepAlive = 30) =>
    frame(0x10, text('MQTT'), Buffer.from([4, 0xc2, 0, keepAlive]), text('any'), text(username), text(password)),
  publish: (topic: string, payload: string, qos: 0 | 1, id = 0) =>
    frame(0x30 | (qos << 1), text(topic), ...(qos ? [number(id)] : []), Buffer.from(payload)),
  subscribe: (topic: string, id: number) => frame(0x82, number(id), text(topic), Buffer.from([1])),
  pingreq: frame(0xc0),
  disconnect: frame(0xe0),
}

export interface RawConnection {
  readonly socket: Socket
  /** Frames that came, in their order: the first byte, and the packet id of those that have one. */
  readonly received: { readonly type: number; readonly id: number }[]
  readonly isClosed: boolean
}

export async function rawMqtt(port: number, localAddress = '127.0.0.1'): Promise<RawConnection> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  const connection = { socket, received: [] as { type: number; id: number }[], isClosed: false }
  let rest = Buffer.alloc(0)
  socket.on('error', () => {})
  socket.on('close', () => {
    connection.isClosed = true
  })
  socket.on('data', (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const header = readFixedHeader(rest, 0)
      if (!header || rest.length < header.headerBytes + header.remainingBytes) break
      const { firstByte, headerBytes, remainingBytes } = header
      connection.received.push({ type: firstByte >> 4, id: remainingBytes >= 2 ? rest.readUInt16BE(headerBytes) : 0 })
      rest = rest.subarray(headerBytes + remainingBytes)
    }
  })
  await new Promise((resolve) => socket.once('connect', resolve))
  return connection
}

export const connack = 2
export const puback = 4
export const pingresp = 13
