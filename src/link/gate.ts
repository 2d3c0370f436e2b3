// Splits what a device sends into MQTT frames: what it publishes goes to us, the rest to the broker, too much at once waits.
import type { Duplex } from 'node:stream'
import type { Bearer, Pressure } from './pressure.ts'

/** How many messages of one connection are under way at once; the rest waits in the socket. */
const mostInFlight = 8
/** And how many frames the broker gets at once. */
const mostForBroker = 8
/** A stranger may only say who he is. */
const largestOfStranger = 4096

const publish = 3
/** With the bits that belong to it; any others are for the broker to refuse. */
const pubrel = 0x62
const isPublished = (first: number): boolean => first >> 4 === publish || first === pubrel

export interface GateOptions {
  readonly stream: Duplex
  readonly pressure: Pressure
  /** A PUBLISH or PUBREL: its first byte, and what comes after the length. A PUBLISH has its place until it is dealt with. */
  readonly onPublished: (first: number, body: Buffer) => void
  /** A message that may be lost, and was, because too much is under way. */
  readonly onDropped: () => void
}

export class Gate implements Bearer {
  readonly #options: GateOptions
  readonly #pull: () => Buffer | null
  /** How many seconds ago the last byte moved here, in either direction. */
  quietSeconds = 0
  #isStranger = true
  #hasKnocked = false
  #largest = largestOfStranger
  /** Messages that are not answered yet. */
  #inFlight = 0
  /** Nothing is read: until one is answered, or the device reads, or there is a place. */
  #waitsFor: 'answer' | 'place' | undefined
  /** The next message has its place already, of that size. */
  #promised: number | undefined
  #isReading = false
  /** The beginning of a frame whose length has not come yet. */
  #head: Buffer | undefined
  /** Of the frame that was looked at last, without its beginning. */
  #length = 0
  /** Bytes of the present frame that are still to come, and who gets them. */
  #left = 0
  #to: 'us' | 'broker' | 'nobody' = 'broker'
  /** Of a message that comes in pieces: what came, and whether it holds a place, for a while. */
  #first = 0
  #size = 0
  #body: Buffer | undefined
  #place: 'none' | 'new' | 'old' = 'none'

  /**
   * The broker pulls with `read()`: what it gets there is its share. What is ours and comes in one piece, as nearly always,
   * does not even enter the stream: that would cost more than all that is done with it here.
   */
  constructor(options: GateOptions) {
    const { stream } = options
    this.#options = options
    const pullSome = stream.read.bind(stream)
    // What is more than Node wants to hold, or all: with less in hand it would read on, and what waits here would grow.
    this.#pull = () => {
      const beyond = stream.readableLength - stream.readableHighWaterMark
      return beyond > 0 ? pullSome(beyond) : pullSome()
    }
    // Node itself asks with a size; null means "all there is" and is the broker.
    stream.read = (size?: number | null) => (size === null || size === undefined ? this.#read() : pullSome(size))
    const push = stream.push.bind(stream)
    stream.push = (chunk: Buffer | null) => {
      const rest = chunk && this.#takeFrom(chunk)
      return rest === undefined || push(rest)
    }
    stream.on('drain', () => this.#goOn('answer'))
    stream.once('close', () => this.#close())
  }

  /** The device has proved who it is, and knows it. */
  open(largest: number): void {
    this.#isStranger = false
    this.#largest = largest
  }

  answered(count: number): void {
    this.#inFlight -= count
    this.quietSeconds = 0
    this.#goOn('answer')
  }

  go(): void {
    this.#promised = this.#size
    this.#goOn('place')
  }

  /** Once a second. */
  tick(): void {
    if (!this.#isStranger) this.quietSeconds++
    // Whoever sends slowly keeps nobody else out.
    if (this.#place === 'old') this.#giveUpPlace()
    else if (this.#place === 'new') this.#place = 'old'
  }

  #goOn(after: 'answer' | 'place'): void {
    if (this.#waitsFor !== after) return
    this.#waitsFor = undefined
    // The broker listens to this, and pulls.
    if (!this.#isReading) this.#options.stream.emit('readable')
  }

  #close(): void {
    const { pressure } = this.#options
    pressure.leave(this)
    this.#giveUpPlace()
    if (this.#promised !== undefined) pressure.free(this.#promised)
    this.#promised = undefined
  }

  #giveUpPlace(): void {
    if (this.#place !== 'none') this.#options.pressure.free(this.#size)
    this.#place = 'none'
  }

  #read(): Buffer | null {
    // Not even looked at: giving it back would make the stream say that there is something to read.
    if (this.#waitsFor || (this.#isStranger && this.#hasKnocked && this.#left === 0)) return null
    const { stream } = this.#options
    while (!stream.destroyed) {
      const chunk = this.#pull()
      if (chunk === null) return null
      this.quietSeconds = 0
      this.#isReading = true
      const share = this.#split(this.#head ? Buffer.concat([this.#head, chunk]) : chunk)
      this.#isReading = false
      if (share !== null || this.#waitsFor || stream.readableLength === 0) return share
    }
    return null
  }

  /** Takes what is ours, before anything else; what is left goes the long way. */
  #takeFrom(chunk: Buffer): Buffer | undefined {
    const { stream } = this.#options
    const isBehind = this.#isReading || this.#left > 0 || this.#head !== undefined || stream.readableLength > 0
    if (isBehind || this.#waitsFor || this.#isStranger) return chunk
    this.quietSeconds = 0
    this.#isReading = true
    let at = 0
    while (at < chunk.length && !stream.destroyed) {
      const first = chunk[at] as number
      const body = isPublished(first) ? this.#bodyAt(chunk, at) : 0
      const end = body + this.#length
      if (body === 0 || this.#isWrong(first, this.#length) || end > chunk.length) break
      if (!this.#mayCome(first, this.#length)) break
      if (this.#to === 'us') this.#take(first, chunk.subarray(body, end))
      at = end
    }
    this.#isReading = false
    return at === chunk.length ? undefined : chunk.subarray(at)
  }

  /** Where the body of the frame begins that begins there, and how long it is; 0 if not all of its length has come. */
  #bodyAt(chunk: Buffer, at: number): number {
    let length = 0
    let body = at + 1
    for (let weight = 1; body < chunk.length; weight *= 128) {
      const byte = chunk[body++] as number
      length += (byte & 127) * weight
      // A fifth byte of length is not MQTT.
      this.#length = body - at > 4 && byte > 127 ? Number.POSITIVE_INFINITY : length
      if (byte < 128 || body - at > 4) return body
    }
    return 0
  }

  /** What is ours is taken on the way; what the broker gets is one piece, so that everybody gets things in their order. */
  #split(chunk: Buffer): Buffer | null {
    const { stream } = this.#options
    this.#head = undefined
    let from = 0
    let at = 0
    let frames = 0
    const share = () => (at > from ? chunk.subarray(from, at) : null)
    // Back into the stream, which then does not end before it was read.
    const keepRest = () => {
      stream.unshift(chunk.subarray(at))
      return share()
    }
    while (at < chunk.length) {
      if (this.#left > 0) {
        const end = Math.min(chunk.length, at + this.#left)
        this.#left -= end - at
        if (this.#to === 'us') this.#piece(chunk.subarray(at, end))
        at = end
        if (this.#to !== 'broker') from = at
        if (stream.destroyed) return null
        continue
      }
      // What comes behind his name is looked at when he is known.
      if (this.#isStranger && this.#hasKnocked) return keepRest()
      const first = chunk[at] as number
      const body = this.#bodyAt(chunk, at)
      if (body === 0) {
        this.#head = chunk.subarray(at)
        return share()
      }
      const length = this.#length
      if (this.#isWrong(first, length)) {
        stream.destroy(new Error('a packet is malformed, or larger than allowed'))
        return null
      }
      if (this.#isStranger || !isPublished(first)) {
        if (++frames > mostForBroker) return keepRest()
        this.#hasKnocked = true
        this.#to = 'broker'
        this.#left = length
        at = body
        continue
      }
      if (at > from) return keepRest()
      if (!this.#mayCome(first, length)) return keepRest()
      at = body
      if (this.#to === 'us' && chunk.length - body >= length) {
        at += length
        this.#take(first, chunk.subarray(body, at))
      } else {
        this.#first = first
        this.#size = length
        this.#left = length
        if (this.#to === 'us' && first !== pubrel) this.#place = 'new'
      }
      from = at
      if (stream.destroyed) return null
    }
    return share()
  }

  #isWrong(first: number, length: number): boolean {
    return length > this.#largest || (first === pubrel && length !== 2)
  }

  /** Whether the frame is read on, and for whom; if not, somebody calls when it is time. */
  #mayCome(first: number, length: number): boolean {
    const { pressure, stream, onDropped } = this.#options
    this.#to = 'us'
    if (first === pubrel) {
      if (stream.writableNeedDrain) this.#waitsFor = 'answer'
      return !stream.writableNeedDrain
    }
    if (this.#promised !== undefined) {
      this.#promised = undefined
      return true
    }
    if (this.#inFlight >= mostInFlight || stream.writableNeedDrain) {
      this.#waitsFor = 'answer'
      return false
    }
    const mayBeLost = (first & 0b110) === 0
    if (mayBeLost) {
      if (pressure.take(length)) return true
      this.#to = 'nobody'
      onDropped()
      return true
    }
    if (pressure.takeOrWait(length, this)) return true
    this.#size = length
    this.#waitsFor = 'place'
    return false
  }

  #piece(piece: Buffer): void {
    // Into one piece at once: a thousand small ones would be more than they hold.
    this.#body ??= Buffer.allocUnsafe(this.#size)
    piece.copy(this.#body, this.#size - this.#left - piece.length)
    if (this.#left > 0) return
    // Its place was given to somebody else meanwhile; it is here now.
    if (this.#place === 'none' && this.#first !== pubrel) this.#options.pressure.add(this.#size)
    this.#place = 'none'
    const body = this.#body
    this.#body = undefined
    this.#take(this.#first, body)
  }

  #take(first: number, body: Buffer): void {
    if (first !== pubrel) this.#inFlight++
    this.#options.onPublished(first, body)
  }
}
