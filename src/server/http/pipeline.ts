// Requests that are sent ahead on one connection: each is begun when those before it are answered. [contract 7.13]
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Nobody who reads the answers is so far ahead. */
const mostWaiting = 100

const waiting = new WeakMap<Socket, number>()

/** Node gives an answer the socket when it is its turn. */
export const isFirstInPipeline = (response: ServerResponse): boolean => response.socket !== null

/** Otherwise all answers behind one that does not end, or that nobody takes, would be made and kept in memory. */
export function waitForTurn({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
  const others = waiting.get(socket) ?? 0
  if (others >= mostWaiting) {
    socket.destroy()
    return
  }
  waiting.set(socket, others + 1)
  response.once('socket', () => {
    waiting.set(socket, (waiting.get(socket) ?? 1) - 1)
    // It is not quite done with giving; and who is gone by then does not need an answer.
    setImmediate(() => response.destroyed || begin())
  })
}
