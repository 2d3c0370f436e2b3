// Splits what a device sends into MQTT frames and hands over one after the other; too much at once waits.
import type { Duplex } from 'node:stream'
import type { Bearer, Pressure } from './ingest-budget.ts'

/** How many messages of one connection are under way at once; the rest waits in the socket. */
const mostInFlight = 8
/** A stranger may only say who he is. */
const largestOfStranger = 4096

const pubrel = 0x62
const isPublish = (first: number): boolean => first >> 4 === 3

/** Who gets the frames: the first byte of each, and what comes after the length. */
export interface Receives {
  /** A PUBLISH has its place until it is dealt with. */
  published(first: number, body: Buffer): void
  /** Any other frame; of a stranger every frame. */
  controlled(first: number, body: Buffer): void
  /** A message that may be lost, and was, because too much is under way. */
  dropped(): void
}

export class Gate implements Bearer {
  readonly #stream: Duplex
  readonly #pressure: Pressure
  readonly #to: Receives
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
  /** Of a frame that comes in pieces: what is still to come, what came, and whether it holds a place, for a while. */
  #left = 0
  #first = 0
  #size = 0
  #isDropped = false
  #body: Buffer | undefined
  #place: 'none' | 'new' | 'old' = 'none'

  /** What comes in one piece, as nearly always, does not even enter the stream: that would cost more than all else here. */
  constructor(stream: Duplex, pressure: Pressure, to: Receives) {
    this.#stream = stream
    this.#pressure = pressure
    this.#to = to
    const push = stream.push.bind(stream)
    stream.push = (chunk: Buffer | null) => {
      const rest = chunk && this.#takeFrom(chunk)
      return rest === undefined || push(rest)
    }
    stream.on('readable', () => this.#read())
    stream.on('drain', () => this.#goOn('answer'))
    stream.once('close', () => this.#close())
  }

  /** The device has proved who it is, and knows it. */
  open(largest: number): void {
    this.#isStranger = false
    this.#largest = largest
    this.#read()
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
    this.#read()
  }

  #close(): void {
    this.#pressure.leave(this)
    this.#giveUpPlace()
    if (this.#promised !== undefined) this.#pressure.free(this.#promised)
    this.#promised = undefined
  }

  #giveUpPlace(): void {
    if (this.#place !== 'none') this.#pressure.free(this.#size)
    this.#place = 'none'
  }

  /** No frame begins now. What comes behind a stranger's name is looked at when he is known. */
  get #isShut(): boolean {
    return this.#waitsFor !== undefined || (this.#isStranger && this.#hasKnocked)
  }

  #read(): void {
    const stream = this.#stream
    if (this.#isReading) return
    // Not even looked at while it is shut: giving it back would make the stream say that there is something to read.
    while (!stream.destroyed && (this.#left > 0 || !this.#isShut)) {
      const chunk = this.#pull()
      if (chunk === null) return
      this.quietSeconds = 0
      this.#isReading = true
      this.#split(this.#head ? Buffer.concat([this.#head, chunk]) : chunk)
      this.#isReading = false
      if (stream.readableLength === 0) return
    }
  }

  /** What is more than Node wants to hold, or all: with less in hand it would read on, and what waits here would grow. */
  #pull(): Buffer | null {
    const beyond = this.#stream.readableLength - this.#stream.readableHighWaterMark
    return beyond > 0 ? this.#stream.read(beyond) : this.#stream.read()
  }

  /** Takes what is there whole, before anything else; what is left goes the long way. */
  #takeFrom(chunk: Buffer): Buffer | undefined {
    const isBehind =
      this.#isReading || this.#left > 0 || this.#head !== undefined || this.#stream.readableLength > 0 || this.#isShut
    if (isBehind) return chunk
    this.quietSeconds = 0
    this.#isReading = true
    const end = this.#takeWhole(chunk, 0)
    this.#isReading = false
    return end === chunk.length ? undefined : chunk.subarray(end)
  }

  /** Hands over whole frames from there on, as long as they may come, and says where it ended. */
  #takeWhole(chunk: Buffer, from: number): number {
    let at = from
    while (at < chunk.length && !this.#isShut && !this.#stream.destroyed) {
      const first = chunk[at] as number
      const body = this.#bodyAt(chunk, at)
      const end = body + this.#length
      if (body === 0 || end > chunk.length || this.#isWrong(first) || !this.#mayCome(first, this.#length)) break
      if (!this.#isDropped) this.#take(first, chunk.subarray(body, end))
      at = end
    }
    return at
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

  #split(chunk: Buffer): void {
    const stream = this.#stream
    this.#head = undefined
    let at = this.#left > 0 ? this.#piece(chunk) : 0
    at = this.#takeWhole(chunk, at)
    if (at === chunk.length || stream.destroyed) return
    // Back into the stream, which then does not end before it was read.
    if (this.#isShut) return void stream.unshift(chunk.subarray(at))
    const first = chunk[at] as number
    const body = this.#bodyAt(chunk, at)
    if (body === 0) {
      this.#head = chunk.subarray(at)
    } else if (this.#isWrong(first)) {
      stream.destroy(new Error('a packet is malformed, or larger than allowed'))
    } else if (this.#mayCome(first, this.#length)) {
      this.#begin(first, this.#length)
      this.#piece(chunk.subarray(body))
    } else {
      stream.unshift(chunk.subarray(at))
    }
  }

  /** What was looked at last. */
  #isWrong(first: number): boolean {
    return this.#length > this.#largest || (first === pubrel && this.#length !== 2)
  }

  /** Whether the frame is read on; if not, somebody calls when it is time. */
  #mayCome(first: number, length: number): boolean {
    this.#isDropped = false
    if (this.#promised !== undefined) {
      this.#promised = undefined
      return true
    }
    // Whoever does not read is not read.
    if (this.#stream.writableNeedDrain || (isPublish(first) && this.#inFlight >= mostInFlight)) {
      this.#waitsFor = 'answer'
      return false
    }
    if (this.#isStranger || !isPublish(first)) return true
    const mayBeLost = (first & 0b110) === 0
    if (mayBeLost) {
      this.#isDropped = !this.#pressure.take(length)
      if (this.#isDropped) this.#to.dropped()
      return true
    }
    if (this.#pressure.takeOrWait(length, this)) return true
    this.#size = length
    this.#waitsFor = 'place'
    return false
  }

  #begin(first: number, length: number): void {
    this.#first = first
    this.#size = length
    this.#left = length
    if (this.#isStranger) this.#hasKnocked = true
    else if (isPublish(first) && !this.#isDropped) this.#place = 'new'
  }

  /** As much of it as belongs to the present frame; where that ends. */
  #piece(chunk: Buffer): number {
    const piece = chunk.subarray(0, this.#left)
    // Into one piece at once: a thousand small ones would be more than they hold.
    if (!this.#isDropped) this.#body ??= Buffer.allocUnsafe(this.#size)
    this.#body?.set(piece, this.#size - this.#left)
    this.#left -= piece.length
    if (this.#left > 0 || this.#isDropped) return piece.length
    // Its place was given to somebody else meanwhile; it is here now.
    if (this.#place === 'none' && isPublish(this.#first) && !this.#isStranger) this.#pressure.add(this.#size)
    this.#place = 'none'
    const body = this.#body as Buffer
    this.#body = undefined
    this.#take(this.#first, body)
    return piece.length
  }

  #take(first: number, body: Buffer): void {
    if (this.#isStranger) this.#hasKnocked = true
    if (this.#isStranger || (!isPublish(first) && first !== pubrel)) {
      this.#to.controlled(first, body)
      return
    }
    if (first !== pubrel) this.#inFlight++
    this.#to.published(first, body)
  }
}
