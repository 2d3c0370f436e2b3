// Maps error codes to HTTP statuses and errors to bodies. No other file does. [contract 2.1] [contract 2.2]
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorBody, ErrorCode } from '../../contract/error.ts'
import { kibibytes, smallBodyBytes } from '../../contract/operation.ts'
import { Failure } from '../core/failure.ts'
import type { Log } from '../core/log.ts'
import { sendJson } from './answer.ts'

const statuses: Record<ErrorCode, number> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  ABORTED: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RESOURCE_EXHAUSTED: 429,
  REQUEST_HEADER_FIELDS_TOO_LARGE: 431,
  INTERNAL: 500,
  UNAVAILABLE: 503,
}

/**
 * Caches the JSON of a failure up to the request id. JSON.stringify would add a microsecond to each request of the bench row `reads`,
 * malformed token.
 */
const serialisedFailures = new WeakMap<Failure, string>()

const challenge = 'Bearer realm="roomkeeper"'

export const httpStatusOf = ({ code, extras: { status } }: Failure): number => status ?? statuses[code]

/** The body of an error. A request id needs no escaping: the server accepts only plain characters in it. */
export function errorText(failure: Failure, requestId: string): string {
  let serialised = serialisedFailures.get(failure)
  if (serialised === undefined) {
    const { violations } = failure.extras
    const body = { status: httpStatusOf(failure), code: failure.code, message: failure.message }
    const all = { ...body, ...(violations && { violations: [...violations] }) } satisfies Omit<ErrorBody, 'requestId'>
    serialised = JSON.stringify(all).slice(0, -1)
    serialisedFailures.set(failure, serialised)
  }
  return `${serialised},"requestId":"${requestId}"}`
}

/** The answer to requests while the server stops. */
export const shuttingDown = (): Failure =>
  new Failure('UNAVAILABLE', 'The server is shutting down. Send the request again in a moment.', {
    retryAfterSeconds: 5,
    headers: { Connection: 'close' },
  })

/** Answers a request with an error. */
export type SendError = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void

export function sendError(log: Log): SendError {
  return (error, request, reply) => {
    const failure = asFailure(error, request)
    const { headers, retryAfterSeconds } = failure.extras
    if (failure.code === 'INTERNAL') log.error({ requestId: request.id, err: error }, 'request failed')
    else if (failure.code === 'UNAVAILABLE')
      log.error({ requestId: request.id, reason: failure.message }, 'request failed: service unavailable')
    // The status cannot change once headers were sent, so the connection is closed instead.
    if (reply.raw.headersSent) return void reply.raw.destroy()
    // Fastify runs no hooks for some requests that it cannot route.
    if (!request.begunAt) reply.header('x-request-id', request.id)
    if (reply.hasHeader('etag')) reply.removeHeader('etag')
    if (headers) reply.headers(headers)
    const wwwAuthenticate = challengeOf(failure)
    if (wwwAuthenticate !== undefined) reply.header('www-authenticate', wwwAuthenticate)
    if (retryAfterSeconds !== undefined) reply.header('Retry-After', String(retryAfterSeconds))
    sendJson(reply.code(httpStatusOf(failure)), errorText(failure, request.id))
  }
}

/** The header WWW-Authenticate. [contract 2.3] */
function challengeOf({ extras: { neededPermissions, needsToken } }: Failure): string | undefined {
  if (neededPermissions) return `${challenge}, error="insufficient_scope", scope="${neededPermissions.join(' ')}"`
  return needsToken && challenge
}

/** Translates the errors of Fastify that a caller can cause. Any other error is internal, and its text appears only in the log. */
function asFailure(error: unknown, { routeOptions }: FastifyRequest): Failure {
  if (error instanceof Failure) return error
  switch ((error as FastifyError).code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Failure(
        'PAYLOAD_TOO_LARGE',
        `The body is larger than the ${kibibytes(routeOptions.bodyLimit ?? smallBodyBytes)} that this operation allows. Send less in one request.`,
      )
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Failure('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json.')
    case 'FST_ERR_NOT_FOUND': // a method that HTTP/1.1 does not have, such as PRI
      return new Failure('INVALID_ARGUMENT', 'this is not a well-formed HTTP request.', {
        headers: { Connection: 'close' },
      })
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'ECONNRESET': // the connection broke while the body was being sent, so this answer is not read
      return new Failure('INVALID_ARGUMENT', 'the length of the body differs from its Content-Length.')
  }
  return new Failure('INTERNAL', 'Internal server error. Report it with the requestId.')
}
