// Bounds what answers that are not taken hold in memory: by their sum, by connection, and by time. [contract 7.22]
import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../clock.ts'
import { settle } from '../settle.ts'

declare module 'fastify' {
  interface FastifyInstance {
    unsentAnswers: UnsentAnswers
  }
}

const maxBytes = 256 * 1024 * 1024
/** What is written to one connection at once, as long as there is room: smaller windows cost more. */
const maxBytesPerConnection = 8 * 1024 * 1024
/**
 * The same when this much is held. A write is reported when all of it was taken, so in small windows a client that reads slowly can be
 * told from one that does not read.
 */
const tightFromBytes = 64 * 1024 * 1024
const tightBytesPerConnection = 256 * 1024
/** Node looks twice before it says that a connection took nothing: after this time, and once more after it. */
const stallCheckMs = 15_000
/** A server that has nothing to do would keep what was closed as garbage. So much of it is worth a pause of some 0.1 s. */
const collectFromBytes = 64 * 1024 * 1024
/** While more than this is held, somebody is busy, and V8 collects by itself. */
const collectBelowBytes = 16 * 1024 * 1024

interface Unsent {
  readonly response: ServerResponse
  /** What is held in memory for it; several answers may hold the same. */
  readonly body: object
  readonly bytes: number
  /** Bytes of the connection that the system has taken, and when that last changed. */
  taken: number
  takenAt: number
}

export class UnsentAnswers {
  readonly #clock: Clock
  readonly #unsent = new Map<ServerResponse, Unsent>()
  /** How many answers hold each body. */
  readonly #holders = new Map<object, number>()
  /** Bytes of all bodies that are held, each counted once, whole until its last holder is done with it. */
  bytes = 0
  /** Connections that were closed because they took nothing, or were furthest behind when there was no room. */
  closed = 0
  /** Bytes that connections held which ended before they took them, and that may still be garbage. */
  #garbage = 0
  readonly #collect: () => Promise<void>

  constructor(clock: Clock, collect: () => Promise<void>) {
    this.#clock = clock
    this.#collect = collect
  }

  /** How much of an answer may be written before it is seen whether it is taken. */
  get windowBytes(): number {
    return this.bytes < tightFromBytes ? maxBytesPerConnection : tightBytesPerConnection
  }

  /** To be called when an answer was not taken at once. Its body counts until the answer is finished or its connection ends. */
  hold(response: ServerResponse, bytes: number, body: object = response): void {
    if (response.destroyed || this.#unsent.has(response)) return
    const unsent = { response, body, bytes, taken: takenBy(response), takenAt: this.#clock.now() }
    this.#unsent.set(response, unsent)
    const holders = this.#holders.get(body) ?? 0
    this.#holders.set(body, holders + 1)
    if (holders === 0) this.bytes += bytes
    this.#watch(unsent)
    if (this.bytes > maxBytes) this.#makeRoom(unsent)
  }

  /** Gives memory back, if there is much to give. To be called every second. */
  async check(): Promise<void> {
    if (this.#garbage < collectFromBytes || this.bytes > collectBelowBytes) return
    this.#garbage = 0
    await this.#collect()
  }

  #watch(unsent: Unsent): void {
    const { response } = unsent
    // Back-pressure: what a client sends meanwhile would also count as activity of its connection.
    response.socket?.pause()
    response.setTimeout(stallCheckMs, () => {
      if (response.writableLength > 0) this.#close(unsent)
      else response.setTimeout(stallCheckMs)
    })
    // Before Node sets the timeout of an idle connection.
    response.prependOnceListener('finish', () => {
      response.setTimeout(0)
      response.socket?.resume()
    })
    response.once('close', () => {
      if (response.writableFinished) this.#release(unsent)
      else this.#discard(unsent)
    })
  }

  /** Notes whether something was taken since the last look. */
  #look(unsent: Unsent, now: number): void {
    const taken = takenBy(unsent.response)
    if (taken === unsent.taken) return
    unsent.taken = taken
    unsent.takenAt = now
  }

  /** Closes those that have taken nothing for longest: a client that reads, however slowly, is ahead of one that does not. */
  #makeRoom(newest: Unsent): void {
    const now = this.#clock.now()
    const others = [...this.#unsent.values()].filter((unsent) => unsent !== newest)
    for (const unsent of others) this.#look(unsent, now)
    others.sort((a, b) => a.takenAt - b.takenAt)
    for (const unsent of others) {
      if (this.bytes <= maxBytes) return
      this.#close(unsent)
    }
  }

  #close(unsent: Unsent): void {
    this.closed++
    this.#discard(unsent)
    unsent.response.destroy()
  }

  #discard(unsent: Unsent): void {
    if (this.#release(unsent)) this.#garbage += unsent.bytes
  }

  /** Says whether that was the last to hold its body. */
  #release({ response, body, bytes }: Unsent): boolean {
    if (!this.#unsent.delete(response)) return false
    const holders = (this.#holders.get(body) ?? 1) - 1
    if (holders > 0) {
      this.#holders.set(body, holders)
      return false
    }
    this.#holders.delete(body)
    this.bytes -= bytes
    return true
  }
}

/** What was written to the socket without what still waits in it. */
const takenBy = ({ socket }: ServerResponse): number => (socket ? socket.bytesWritten - socket.writableLength : 0)

/** Watches the answers that Fastify sends by itself: files, streams, and what is compressed on its way. */
export function watchUnsent(app: FastifyInstance, clock: Clock): UnsentAnswers {
  const answers = new UnsentAnswers(clock, settle)
  app.decorate('unsentAnswers', answers)
  // Registered before compression: it sees what is held, not what is sent.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (Buffer.isBuffer(payload)) answers.hold(reply.raw, payload.length, payload)
    else if (typeof payload === 'string') answers.hold(reply.raw, Buffer.byteLength(payload))
    else if (payload) answers.hold(reply.raw, 0)
    done()
  })
  return answers
}
