// Secrets of devices travel encrypted, or do not leave the machine.
import type { FastifyRequest } from 'fastify'
import { Failure } from '../../core/failure.ts'
import { isLoopback } from '../../core/loopback.ts'

/** Why a device must not say its secret here; undefined when it may. */
export function insecureTransport(request: FastifyRequest): Failure | undefined {
  if (request.protocol === 'https' || isLoopback(request.ip)) return undefined
  // A trusted proxy that does not say how it was reached is believed to be reached well.
  const cameByProxy = request.ips !== undefined && request.ips.length > 1
  if (cameByProxy && request.headers['x-forwarded-proto'] === undefined) return undefined
  return new Failure(
    'FAILED_PRECONDITION',
    'devices use HTTPS here, because they send secrets. Use the https:// address of this service.',
  )
}
