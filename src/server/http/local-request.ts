// Tells whether a request comes from this machine itself, and not through a proxy that runs on it. [contract D.10]
import type { FastifyRequest } from 'fastify'
import { isLoopback } from '../core/loopback.ts'

/** Headers that only proxies add. */
const proxyHeaders = /^(?:forwarded|via|x-real-ip|x-forwarded-.*)$/

/**
 * A request with a header of a proxy is local only if the proxy is trusted and names a client on loopback. Fastify has several
 * `ips` exactly then: its own peer is trusted and has sent X-Forwarded-For.
 */
export function isLocalRequest({ ip, ips, headers }: Pick<FastifyRequest, 'ip' | 'ips' | 'headers'>): boolean {
  const cameByProxy = Object.keys(headers).some((name) => proxyHeaders.test(name))
  const namesClient = ips !== undefined && ips.length > 1
  return isLoopback(ip) && (!cameByProxy || namesClient)
}
