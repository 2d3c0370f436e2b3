// Refuses secrets of devices over unencrypted connections, except from this machine.
import type { FastifyRequest } from 'fastify'
import { Failure } from '../../core/failure.ts'
import { isLoopback } from '../../core/loopback.ts'

/** Returns why a device must not send its secret over this connection; undefined if it may. */
export function insecureTransport(request: FastifyRequest): Failure | undefined {
  if (request.protocol === 'https' || isLoopback(request.ip)) return undefined
  // A trusted proxy that does not send X-Forwarded-Proto is assumed to serve HTTPS.
  const cameByProxy = request.ips !== undefined && request.ips.length > 1
  if (cameByProxy && request.headers['x-forwarded-proto'] === undefined) return undefined
  return new Failure(
    'FAILED_PRECONDITION',
    'devices must use HTTPS, because they send secrets. Use the https:// address of this service.',
  )
}
