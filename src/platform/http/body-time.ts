// Limits how long the body of a request may take to arrive.
import type { IncomingMessage } from 'node:http'
import { answerUnreadable } from './unreadable.ts'

/** Parsed bodies are small: one that does not end is somebody who holds the line. */
export function limitTime(request: IncomingMessage, ms: number): void {
  const timer = setTimeout(() => {
    answerUnreadable(Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), request.socket)
  }, ms)
  request.once('close', () => clearTimeout(timer))
}
