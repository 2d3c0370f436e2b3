// Answers requests that Node cannot parse, in their turn on the connection, with the usual error body. [contract 2.1]
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import { Failure } from '../../core/failure.ts'
import type { TimeLimits } from '../../core/time-limits.ts'
import { errorText } from '../errors.ts'
import { isFirstInPipeline } from '../pipeline.ts'

/**
 * The reply to the latest request of each connection, while it is needed. Replies are sent in order: when it is finished, so are all
 * before it.
 */
const latestReply = new WeakMap<Socket, FastifyReply>()
/** Connections whose error was answered or is about to be: the parser reports the error again for all data that follows. */
const failed = new WeakSet<Socket>()

export const rememberReply = (reply: FastifyReply): void => void latestReply.set(reply.request.raw.socket, reply)

/** Must be called when the reply has ended. An idle connection would keep the memory of its last answer otherwise. */
export function forgetReply(reply: FastifyReply): void {
  const { complete, socket } = reply.request.raw
  // Otherwise an error in the rest of its body belongs to this request.
  if (complete && latestReply.get(socket) === reply) latestReply.delete(socket)
}

/** For the `clientError` event of Node's HTTP server. */
export function answerUnreadable(error: Error & { code?: string }, socket: Socket, limits: TimeLimits): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  if (failed.has(socket)) return
  failed.add(socket)
  const lingerMs = limits.unreadableLingerMs
  const refuse = () => end(socket, lingerMs, failureOf(error.code))
  const latest = latestReply.get(socket)
  if (!latest) refuse()
  else if (latest.request.raw.complete) refuseAfter(latest.raw, socket, refuse)
  else refuseBody(latest.raw, socket, lingerMs, refuse)
}

/** Handles an unreadable request that follows others on the connection. */
function refuseAfter(response: ServerResponse, socket: Socket, refuse: () => void): void {
  if (response.writableFinished) {
    refuse()
    return
  }
  // An error that is written now would be inserted into the answer before it.
  socket.pause()
  response.once('close', refuse)
}

/** Handles an unreadable body, which belongs to the latest request. */
function refuseBody(response: ServerResponse, socket: Socket, lingerMs: number, refuse: () => void): void {
  if (response.writableEnded) end(socket, lingerMs)
  else if (response.headersSent) response.once('close', () => end(socket, lingerMs))
  else if (isFirstInPipeline(response)) refuse()
  else response.once('socket', refuse)
}

/**
 * Ends the connection, after an error if one is given. Closing it immediately would reset it, and the client could lose the answer: it
 * can continue to send for a while.
 */
function end(socket: Socket, lingerMs: number, failure?: readonly [line: string, failure: Failure]): void {
  if (!socket.writable) return void socket.destroy()
  if (failure) socket.end(answerOf(...failure))
  else socket.end()
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}

function failureOf(code: string | undefined): readonly [line: string, failure: Failure] {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return [
        '431 Request Header Fields Too Large',
        new Failure('REQUEST_HEADER_FIELDS_TOO_LARGE', 'The headers are larger than 16 KiB.'),
      ]
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [
        '408 Request Timeout',
        new Failure('INVALID_ARGUMENT', 'the request did not arrive in time.', { status: 408 }),
      ]
    default:
      return ['400 Bad Request', malformed()]
  }
}

export const malformed = (sentence = 'this is not a well-formed HTTP request.'): Failure =>
  new Failure('INVALID_ARGUMENT', sentence, { headers: { Connection: 'close' } })

function answerOf(line: string, failure: Failure): string {
  const id = randomUUID()
  const body = errorText(failure, id)
  return `HTTP/1.1 ${line}\r\nContent-Type: application/json\r\nX-Request-Id: ${id}\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

/** A request has exactly one Host header (RFC 9112, 3.2); HTTP/1.0 may leave it out. */
export function hostProblem({ rawHeaders, httpVersion }: IncomingMessage): Failure | undefined {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  if (hosts === 1 && httpVersion === '1.1') return undefined
  if (hosts > 1) return malformed('it has more than one Host header. Send one.')
  if (httpVersion === '1.0') return undefined
  return httpVersion === '1.1' ? malformed('the Host header is missing.') : malformed('this is not HTTP/1.1.')
}
