// Tells whether a request comes from this machine itself, and not through a proxy that runs on it. [contract D.10]
import type { FastifyRequest } from 'fastify'
import { isLoopback } from '../core/loopback.ts'

/** Whether only proxies add the header. */
export const isProxyHeader = (name: string): boolean => /^(?:forwarded|via|x-real-ip|x-forwarded-.*)$/.test(name)

/**
 * A request with a header of a proxy is local only if the proxy is trusted and names a client on loopback. Fastify has several
 * `ips` exactly then: its own peer is trusted and has sent X-Forwarded-For.
 */
export function isLocalRequest({ ip, ips, headers }: Pick<FastifyRequest, 'ip' | 'ips' | 'headers'>): boolean {
  const cameByProxy = Object.keys(headers).some(isProxyHeader)
  const namesClient = ips !== undefined && ips.length > 1
  return isLoopback(ip) && (!cameByProxy || namesClient)
}
