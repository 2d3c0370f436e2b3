// The one place that turns codes into statuses and errors into bodies. [contract 2.1] [contract 2.2]
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorBody, ErrorCode } from '../../contract/error.ts'
import { Failure } from '../failure.ts'
import type { Log } from '../log.ts'
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

export function errorBody(failure: Failure, requestId: string): ErrorBody {
  const { violations, status } = failure.extras
  return {
    status: status ?? statuses[failure.code],
    code: failure.code,
    message: failure.message,
    ...(violations && { violations: [...violations] }),
    requestId,
  }
}

export function sendError(log: Log) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const failure = asFailure(error)
    if (failure.code === 'INTERNAL') log.error({ requestId: request.id, err: error }, 'request failed')
    else if (failure.code === 'UNAVAILABLE')
      log.error({ requestId: request.id, reason: failure.message }, 'unavailable')
    const body = errorBody(failure, request.id)
    reply.removeHeader('ETag')
    for (const [name, value] of Object.entries(failure.extras.headers ?? {})) reply.header(name, value)
    sendJson(reply.code(body.status), JSON.stringify(body))
  }
}

/** Fastify's own errors that a caller can cause; anything else is ours, and its text stays in the log. */
function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  switch ((error as FastifyError).code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Failure('PAYLOAD_TOO_LARGE', 'The body is larger than 1 MiB. Send less at a time.')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Failure('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json.')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'ECONNRESET': // while the body was on its way: nobody is left to read this
      return new Failure('INVALID_ARGUMENT', 'the body is not as long as its Content-Length says.')
  }
  return new Failure('INTERNAL', 'Something went wrong on our side. Report it with the requestId.')
}
