// Bounds what answers that are not taken hold in memory: by their sum, by connection, and by time. [contract 7.22]
import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../core/clock.ts'

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

  constructor(clock: Clock) {
    this.#clock = clock
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
    response.once('close', () => this.#release(unsent))
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
    this.#release(unsent)
    unsent.response.destroy()
  }

  #release({ response, body, bytes }: Unsent): void {
    if (!this.#unsent.delete(response)) return
    const holders = (this.#holders.get(body) ?? 1) - 1
    if (holders > 0) {
      this.#holders.set(body, holders)
      return
    }
    this.#holders.delete(body)
    this.bytes -= bytes
  }
}

/** What was written to the socket without what still waits in it. */
const takenBy = ({ socket }: ServerResponse): number => (socket ? socket.bytesWritten - socket.writableLength : 0)

/** Watches the answers that Fastify sends by itself: files, streams, and what is compressed on its way. */
export function watchUnsent(app: FastifyInstance, clock: Clock): UnsentAnswers {
  const answers = new UnsentAnswers(clock)
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
