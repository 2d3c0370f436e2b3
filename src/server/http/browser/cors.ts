// Lets browsers of configured origins call the API. [contract 1.8]
import type { FastifyReply, FastifyRequest } from 'fastify'
import { idempotencyKeyHeader, idempotencyReplayedHeader } from '../../../contract/idempotency.ts'

const exposedHeaders = `ETag, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, ${idempotencyReplayedHeader}`
const allowedHeaders = `Authorization, Content-Type, Accept, If-Match, If-None-Match, X-Request-Id, Last-Event-ID, ${idempotencyKeyHeader}`
const allowedMethods = 'GET, HEAD, POST, PUT, DELETE'

/** Adds the CORS headers. Answers a preflight request, and returns true for it. */
export function cors(origins: ReadonlySet<string>) {
  return (request: FastifyRequest, reply: FastifyReply): boolean => {
    if (origins.size > 0) reply.header('Vary', 'Origin')
    const { origin } = request.headers
    if (origin === undefined) return false
    const isPreflight = request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
    if (origins.has(origin)) {
      reply.header('Access-Control-Allow-Origin', origin).header('Access-Control-Expose-Headers', exposedHeaders)
      if (isPreflight) {
        reply
          .header('Access-Control-Allow-Methods', allowedMethods)
          .header('Access-Control-Allow-Headers', allowedHeaders)
          .header('Access-Control-Max-Age', '7200')
      }
    }
    if (isPreflight) void reply.code(204).send()
    return isPreflight
  }
}
