// Reads the header Idempotency-Key, and hashes what must be the same in a repeat of the request. [contract 7.once]
import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { idempotencyKeyHeader, idempotencyKeyPattern, maxIdempotencyKeyLength } from '../../../contract/idempotency.ts'
import type { OperationId } from '../../../contract/operations.ts'
import type { Caller } from '../../auth/keyring.ts'
import type { KeyedRequest } from '../../context/request-context.ts'
import { invalid } from '../../core/failure.ts'

/** The hash of the body of each request with a key. */
const bodyHashes = new WeakMap<FastifyRequest, string>()

export const idempotencyKeyOf = ({ headers }: FastifyRequest): string | undefined => {
  const key = headers['idempotency-key']
  // Node joins the values of a header that is sent twice, unless it expects a list.
  return Array.isArray(key) ? key.join() : key
}

/** Is called with the bytes of a body, before they are parsed. */
export function hashBodyOfKey(request: FastifyRequest, bytes: Buffer): void {
  if (idempotencyKeyOf(request) !== undefined) bodyHashes.set(request, hash('sha256', bytes, 'base64url'))
}

/** As a page token, a key is bound to its caller, with its role and regions. */
export function keyedRequestOf(request: FastifyRequest, operation: OperationId, key: string): KeyedRequest {
  if (!idempotencyKeyPattern.test(key)) {
    const error = `must have 1 to ${maxIdempotencyKeyLength} visible ASCII characters, and be sent once`
    throw invalid([{ field: idempotencyKeyHeader, error }])
  }
  const { actor, user, access } = request.caller as Caller
  const { method, url } = request
  return {
    operation,
    id: hashOf(actor.type, actor.id, key),
    request: hashOf(user?.role ?? '', access.key, method, url, bodyHashes.get(request) ?? ''),
  }
}

const hashOf = (...parts: readonly string[]): Buffer => hash('sha256', JSON.stringify(parts), 'buffer')
