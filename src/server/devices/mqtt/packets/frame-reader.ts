// Cuts the bytes of a socket into whole MQTT frames, and looks at the length of each before it makes room for it.
import type { Duplex } from 'node:stream'

/** The first bytes of every MQTT packet: its type with flags, and how many bytes follow. */
export interface FixedHeader {
  readonly firstByte: number
  /** Bytes of the header itself, from 2 to 5. */
  readonly headerBytes: number
  /** Bytes that follow the header; infinite if its length field is malformed. */
  readonly remainingBytes: number
}

export interface FrameHandler {
  /** Decides about a frame whose header has arrived. After 'wait' it is asked again when `proceed()` is called. */
  admit(header: FixedHeader): 'read' | 'skip' | 'wait'
  /** Ends the connection, because a frame is larger than allowed. Called again for each further one. */
  rejectLarge(header: FixedHeader): void
  /** Takes a whole frame that was admitted. */
  receive(frame: Buffer, header: FixedHeader): void
  /** The other side has ended its half of the connection, and everything before that was read. */
  inputEnded(): void
}

/** A frame of which some bytes are still to come. */
interface PartialFrame {
  readonly header: FixedHeader
  /** Has the size of the whole frame; undefined for a frame that is skipped. */
  readonly bytes: Buffer | undefined
  missingBytes: number
}

const nothing = Buffer.alloc(0)

export class FrameReader {
  /** The length guard. It changes with the state of the session. */
  maxRemainingBytes: number
  /** Seconds since a byte arrived, or since one that had waited was read. The session counts them. */
  quietSeconds = 0
  readonly #socket: Duplex
  readonly #handler: FrameHandler
  /** Bytes that have arrived and belong to no frame yet, from `#position` on: at most one chunk of the socket. */
  #unread: Buffer = nothing
  #position = 0
  #partial: PartialFrame | undefined
  /** The handler said 'wait', and the socket is paused. */
  #isWaiting = false
  /** The socket has ended, which may be while its last bytes are still unread here. */
  #isEnded = false

  constructor(socket: Duplex, handler: FrameHandler, maxRemainingBytes: number) {
    this.#socket = socket
    this.#handler = handler
    this.maxRemainingBytes = maxRemainingBytes
  }

  start(): void {
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk))
    this.#socket.once('end', () => {
      this.#isEnded = true
      if (!this.#isWaiting) this.#handler.inputEnded()
    })
  }

  /** Asks the handler again about the frame that waits. Does nothing if none does. */
  proceed(): void {
    if (!this.#isWaiting) return
    this.#isWaiting = false
    this.#cut()
    if (this.#isWaiting) return
    if (this.#isEnded) this.#handler.inputEnded()
    else this.#socket.resume()
  }

  #read(chunk: Buffer): void {
    this.quietSeconds = 0
    if (this.#position === this.#unread.length) this.#unread = chunk
    else this.#unread = Buffer.concat([this.#unread.subarray(this.#position), chunk])
    this.#position = 0
    if (!this.#isWaiting) this.#cut()
  }

  #cut(): void {
    while (this.#position < this.#unread.length && !this.#socket.destroyed) {
      if (this.#partial) {
        this.#fill(this.#partial)
        continue
      }
      const header = readFixedHeader(this.#unread, this.#position)
      if (!header) return
      if (header.remainingBytes > this.maxRemainingBytes) {
        this.#handler.rejectLarge(header)
        // If the connection ends with a last packet, the rest of the input is read and ignored.
        if (!this.#socket.destroyed) this.#begin(header, true)
        continue
      }
      const decision = this.#handler.admit(header)
      if (decision === 'wait') {
        this.#isWaiting = true
        this.#socket.pause()
        return
      }
      this.#begin(header, decision === 'skip')
    }
    // A chunk that was read is not held any longer.
    if (this.#position === this.#unread.length) this.#unread = nothing
    if (this.#unread === nothing) this.#position = 0
  }

  #begin(header: FixedHeader, isSkipped: boolean): void {
    this.quietSeconds = 0
    const frameBytes = header.headerBytes + header.remainingBytes
    const start = this.#position
    const end = start + frameBytes
    if (end <= this.#unread.length) {
      this.#position = end
      if (!isSkipped) this.#handler.receive(this.#unread.subarray(start, end), header)
      return
    }
    // One buffer of the final size: joining pieces as they come would copy a frame again for every byte of a slow sender.
    this.#partial = { header, bytes: isSkipped ? undefined : Buffer.allocUnsafe(frameBytes), missingBytes: frameBytes }
  }

  #fill(partial: PartialFrame): void {
    const { header, bytes, missingBytes } = partial
    const piece = this.#unread.subarray(this.#position, this.#position + missingBytes)
    bytes?.set(piece, bytes.length - missingBytes)
    this.#position += piece.length
    partial.missingBytes -= piece.length
    if (partial.missingBytes > 0) return
    this.#partial = undefined
    if (bytes) this.#handler.receive(bytes, header)
  }
}

/** Returns undefined while the fixed header is incomplete. */
export function readFixedHeader(bytes: Buffer, start: number): FixedHeader | undefined {
  let remainingBytes = 0
  for (let i = 1; start + i < bytes.length; i++) {
    const byte = bytes[start + i] as number
    remainingBytes += (byte & 127) << (7 * (i - 1))
    const isLast = byte < 128
    // A length field has at most four bytes (MQTT 3.1.1, section 2.2.3).
    if (!isLast && i === 4) remainingBytes = Number.POSITIVE_INFINITY
    if (isLast || i === 4) return { firstByte: bytes[start] as number, headerBytes: i + 1, remainingBytes }
  }
  return undefined
}

const publishType = 3
export const isPublish = ({ firstByte }: FixedHeader): boolean => firstByte >> 4 === publishType
/** For PUBLISH only. */
export const isQos0 = ({ firstByte }: FixedHeader): boolean => (firstByte & 0b110) === 0
