// Answers what is not a readable HTTP request in the one shape of errors. [contract 2.1]
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { Failure } from '../failure.ts'
import { errorText } from './errors.ts'

/** What is not even an HTTP request gets the same shape of error. */
export function answerUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [line, failure] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [
          '431 Request Header Fields Too Large',
          new Failure('REQUEST_HEADER_FIELDS_TOO_LARGE', 'The headers are larger than 16 KiB.'),
        ]
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [
            '408 Request Timeout',
            new Failure('INVALID_ARGUMENT', 'the request did not arrive in time.', { status: 408 }),
          ]
        : ['400 Bad Request', new Failure('INVALID_ARGUMENT', 'this is not a well-formed HTTP request.')]
  const id = randomUUID()
  const body = errorText(failure as Failure, id)
  socket.end(
    `HTTP/1.1 ${line}\r\nContent-Type: application/json\r\nX-Request-Id: ${id}\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}
