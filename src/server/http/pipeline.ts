// Serialises pipelined requests: each begins when those before it on the connection are answered. [contract 7.13]
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Beyond this many waiting requests, a connection is closed. No client that reads its answers sends so far ahead. */
const maxWaiting = 100
/** A waiting request takes 3 KB of memory. While so many wait on all connections together, each connection may have fewer. */
const pressureThresholdCount = 1_000
const maxWaitingUnderPressure = 3

/** Node assigns the socket to a response when its turn comes. */
export const isFirstInPipeline = (response: ServerResponse): boolean => response.socket !== null

/** Without this, all answers behind one that does not end, or that the client does not read, would be made and held in memory. */
export class PipelinedRequests {
  /** The number of waiting requests of each connection that has ever sent one ahead. */
  readonly #waiting = new Map<Socket, number>()
  #total = 0

  waitForTurn({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
    if (socket.destroyed) return
    const others = this.#waiting.get(socket)
    const limit = this.#total < pressureThresholdCount ? maxWaiting : maxWaitingUnderPressure
    if (others !== undefined && others >= limit) {
      socket.destroy()
      return
    }
    if (others === undefined) socket.once('close', () => this.#forget(socket))
    this.#count(socket, 1)
    response.once('socket', () => {
      this.#count(socket, -1)
      // Node emits 'socket' before the assignment is complete. The client may disconnect until the next turn of the event loop.
      setImmediate(() => response.destroyed || begin())
    })
  }

  #count(socket: Socket, change: 1 | -1): void {
    this.#total += change
    this.#waiting.set(socket, (this.#waiting.get(socket) ?? 0) + change)
  }

  #forget(socket: Socket): void {
    this.#total -= this.#waiting.get(socket) ?? 0
    this.#waiting.delete(socket)
  }
}
