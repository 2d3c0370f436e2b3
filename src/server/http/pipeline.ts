// Serialises pipelined requests: each begins when those before it on the connection are answered. [contract 7.13]
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Beyond this many waiting requests, a connection is closed. No client that reads its answers sends so far ahead. */
const maxWaiting = 100

const waiting = new WeakMap<Socket, number>()

/** Node assigns the socket to a response when its turn comes. */
export const isFirstInPipeline = (response: ServerResponse): boolean => response.socket !== null

/** Without this, all answers behind one that does not end, or that the client does not read, would be made and held in memory. */
export function waitForTurn({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
  const others = waiting.get(socket) ?? 0
  if (others >= maxWaiting) {
    socket.destroy()
    return
  }
  waiting.set(socket, others + 1)
  response.once('socket', () => {
    waiting.set(socket, (waiting.get(socket) ?? 1) - 1)
    // Node emits 'socket' before the assignment is complete. The client may disconnect until the next turn of the event loop.
    setImmediate(() => response.destroyed || begin())
  })
}
