// Limits how long the body of a request may take to arrive.
import type { IncomingMessage } from 'node:http'
import { answerUnreadable } from './unreadable.ts'

/** Parsed bodies are small: one that does not end is somebody who holds the line. */
export function limitTime(request: IncomingMessage, ms: number): void {
  const { socket } = request
  if (socket.destroyed) return
  const timer = setTimeout(() => {
    answerUnreadable(Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
  }, ms)
  const release = () => {
    clearTimeout(timer)
    request.off('close', release)
    socket.off('close', release)
  }
  request.once('close', release)
  // Node emits no 'close' on a request that was answered before its body had arrived, if the connection ends then.
  socket.once('close', release)
}
