// The ways in which a fake codec misbehaves, each a switch that can be turned while it runs.
import type { Duplex } from 'node:stream'

export interface CodecSwitches {
  /** A message that never ends, in fragments. */
  isEndless: boolean
  /** An answer that says it has a gigabyte, and starts to send it. */
  sendsGigabyte: boolean
  /** Sends the handshake or the answers byte by byte, this long apart. */
  dribbles: 'handshake' | 'answers' | undefined
  dribbleMs: number
  sendsBinary: boolean
  /** An answer with a hundred thousand levels. */
  sendsJsonBomb: boolean
  /** An answer with a hundred thousand values. */
  sendsWideBomb: boolean
  /** Answers a question that was not asked. */
  answersAnother: boolean
  /** Never answers. */
  isSilent: boolean
  /** Sends changes of its volume without end. */
  floods: boolean
  /** Answers the upgrade with this status: 404 while its WebSocket is off, 503 while it is busy. */
  upgradeStatus: number | undefined
  redirectsTo: string | undefined
  clockErrorMs: number
  /** Closes a connection on which nothing arrived for this long. */
  closesIdleMs: number | undefined
  /** The connection is gone before the answer to Boot. */
  closesBeforeBootAnswer: boolean
  /** Accepts Boot and goes on. */
  ignoresBoot: boolean
  /** Lacks the parameter Force, as one product of release 9.15 does. */
  lacksForce: boolean
  /** How many subscriptions a connection can have. */
  maxSubscriptions: number
  /** Accepts subscriptions to paths that it does not have. */
  acceptsUnknownFeedback: boolean
  /** Words and numbers, as a codec sends them; all as text; or as its terminal does, in objects. */
  valuesAre: 'plain' | 'text' | 'objects'
  /** Subtrees that the user is not allowed to read, such as "Diagnostics". */
  denied: readonly string[]
}

export const wellBehaved: CodecSwitches = {
  isEndless: false,
  sendsGigabyte: false,
  dribbles: undefined,
  dribbleMs: 1_000,
  sendsBinary: false,
  sendsJsonBomb: false,
  sendsWideBomb: false,
  answersAnother: false,
  isSilent: false,
  floods: false,
  upgradeStatus: undefined,
  redirectsTo: undefined,
  clockErrorMs: 0,
  closesIdleMs: undefined,
  closesBeforeBootAnswer: false,
  ignoresBoot: false,
  lacksForce: false,
  /** That of a codec's terminal. */
  maxSubscriptions: 38,
  acceptsUnknownFeedback: false,
  valuesAre: 'plain',
  denied: [],
}

const chunk = Buffer.alloc(16 * 1024, 'a')

/** Writes for as long as the other side reads, and no faster. */
function writeForever(socket: Duplex, next: () => Buffer): void {
  const write = () => {
    while (!socket.destroyed && socket.writable) {
      if (!socket.write(next())) return void socket.once('drain', write)
    }
  }
  write()
}

/** The header of a text frame of a server; a length of 64 bits can be a lie. */
function frameHeader(opcode: number, isFinal: boolean, length: number): Buffer {
  const header = Buffer.alloc(10)
  header[0] = opcode | (isFinal ? 0x80 : 0)
  header[1] = 127
  header.writeBigUInt64BE(BigInt(length), 2)
  return header
}

export function sendEndlessMessage(socket: Duplex): void {
  socket.write(Buffer.concat([frameHeader(1, false, chunk.length), chunk]))
  writeForever(socket, () => Buffer.concat([frameHeader(0, false, chunk.length), chunk]))
}

export function sendGigabyte(socket: Duplex): void {
  socket.write(frameHeader(1, true, 2 ** 30))
  writeForever(socket, () => chunk)
}

export function dribble(socket: Duplex, bytes: Buffer, everyMs: number): void {
  let sent = 0
  const timer = setInterval(() => {
    if (socket.destroyed || sent >= bytes.length) return clearInterval(timer)
    socket.write(bytes.subarray(sent, ++sent))
  }, everyMs)
  socket.once('close', () => clearInterval(timer))
}

/** A text frame as bytes. */
export const textFrame = (text: string): Buffer =>
  Buffer.concat([frameHeader(1, true, Buffer.byteLength(text)), Buffer.from(text)])

export const jsonBomb = (id: unknown): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${'['.repeat(100_000)}${']'.repeat(100_000)}}`

export const wideBomb = (id: unknown): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":[${'[],'.repeat(80_000)}0]}`
