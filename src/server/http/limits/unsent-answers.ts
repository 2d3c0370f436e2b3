// Bounds the memory of answers that clients do not read: in total, by connection, and by time. [contract 7.22]
import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../../core/clock.ts'
import type { TimeLimits } from '../../core/time-limits.ts'

declare module 'fastify' {
  interface FastifyInstance {
    unsentAnswers: UnsentAnswers
  }
}

const maxBytes = 64 * 1024 * 1024
/** Bytes that are written ahead to one connection while the total is small. Smaller windows cost more CPU time. */
const maxBytesPerConnection = 8 * 1024 * 1024
/**
 * From this total on, connections get the smaller window. Node reports a write when all of it was sent, so with small windows a client
 * that reads slowly can be told from one that does not read.
 */
const smallWindowThresholdBytes = 16 * 1024 * 1024
const maxBytesPerConnectionUnderPressure = 256 * 1024

interface Unsent {
  readonly response: ServerResponse
  /** The object that is held in memory; several answers may share it. */
  readonly body: object
  readonly bytes: number
  /** Bytes that the operating system has accepted from the connection, and the time when that last grew. */
  sentBytes: number
  progressAt: number
}

export class UnsentAnswers {
  readonly #clock: Clock
  readonly #checkMs: number
  readonly #unsent = new Map<ServerResponse, Unsent>()
  /** Number of answers that hold each body. */
  readonly #holders = new Map<object, number>()
  /** Bytes of all held bodies. Each is counted once, in full, until the last answer that holds it ends. */
  bytes = 0
  /** Connections that were closed because they read nothing, or because they were the slowest when memory ran out. */
  closed = 0

  constructor(clock: Clock, limits: TimeLimits) {
    this.#clock = clock
    this.#checkMs = limits.unreadAnswerCheckMs
  }

  /** Bytes of an answer that may be written before the client must have read some. */
  get windowBytes(): number {
    return this.bytes < smallWindowThresholdBytes ? maxBytesPerConnection : maxBytesPerConnectionUnderPressure
  }

  /** Must be called when an answer was not sent immediately. Its body counts until the answer is finished or its connection ends. */
  hold(response: ServerResponse, bytes: number, body: object = response): void {
    // The thread of the health port reads its answers by itself: they have no socket here.
    if (response.destroyed || !(response.socket instanceof Socket) || this.#unsent.has(response)) return
    const unsent = { response, body, bytes, sentBytes: sentBytesOf(response), progressAt: this.#clock.now() }
    this.#unsent.set(response, unsent)
    const holders = this.#holders.get(body) ?? 0
    this.#holders.set(body, holders + 1)
    if (holders === 0) this.bytes += bytes
    this.#watch(unsent)
    if (this.bytes > maxBytes) this.#freeMemory(unsent)
  }

  #watch(unsent: Unsent): void {
    const { response } = unsent
    // The socket is paused, because data from the client would reset the timeout of the connection.
    response.socket?.pause()
    response.setTimeout(this.#checkMs, () => {
      if (response.writableLength > 0) this.#close(unsent)
      else response.setTimeout(this.#checkMs)
    })
    // This listener must run before the one of Node, which sets the timeout of an idle connection.
    response.prependOnceListener('finish', () => {
      response.setTimeout(0)
      response.socket?.resume()
    })
    response.once('close', () => this.#release(unsent))
  }

  /** Updates the progress of an answer. */
  #updateProgress(unsent: Unsent, now: number): void {
    const sentBytes = sentBytesOf(unsent.response)
    if (sentBytes === unsent.sentBytes) return
    unsent.sentBytes = sentBytes
    unsent.progressAt = now
  }

  /** Closes the connections without progress for longest, so a slow reader outlasts a client that does not read. */
  #freeMemory(newest: Unsent): void {
    const now = this.#clock.now()
    const others = [...this.#unsent.values()].filter((unsent) => unsent !== newest)
    for (const unsent of others) this.#updateProgress(unsent, now)
    others.sort((a, b) => a.progressAt - b.progressAt)
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

/** Bytes written to the socket, without those that still wait in its buffer. */
const sentBytesOf = ({ socket }: ServerResponse): number => (socket ? socket.bytesWritten - socket.writableLength : 0)

/** Watches the answers that Fastify sends itself: files, streams, and compressed answers. */
export function watchUnsent(app: FastifyInstance, clock: Clock, limits: TimeLimits): UnsentAnswers {
  const answers = new UnsentAnswers(clock, limits)
  app.decorate('unsentAnswers', answers)
  // This hook is registered before compression, because the uncompressed payload is what memory holds.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (Buffer.isBuffer(payload)) answers.hold(reply.raw, payload.length, payload)
    else if (typeof payload === 'string') answers.hold(reply.raw, Buffer.byteLength(payload))
    else if (payload) answers.hold(reply.raw, 0)
    done()
  })
  return answers
}
