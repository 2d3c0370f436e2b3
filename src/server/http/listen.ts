// Opens the port, and explains what is wrong when that fails.
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { ServeOptions } from '../config/server-options.ts'
import { StartupError } from '../core/failure.ts'
import { isLocalhost } from '../core/loopback.ts'
import { openWithTwin } from './loopback-twin.ts'

export interface Listening {
  /** An address that works from this machine. */
  readonly url: string
  /** The address that people and devices get if no option names one. */
  readonly publicUrl: string
  /** Closes the second address of localhost to new connections; the server closes the first. */
  closeTwin(): void
}

/** Starts to listen. A server on loopback without --public-url can be reached as localhost, where browsers allow passkeys. [contract 11.local] */
export async function listen(app: FastifyInstance, options: ServeOptions): Promise<Listening> {
  const { port } = options
  const host = options.host === 'localhost' ? '127.0.0.1' : options.host
  const isAtLocalhost = hasDefaultAtLocalhost(options)
  try {
    let closeTwin = () => {}
    if (isAtLocalhost || options.host === 'localhost') {
      // A connection to the twin may come before the server itself listens.
      await app.ready()
      const open = (free: number) => app.listen({ port: free, host })
      closeTwin = await openWithTwin(app.server, { port, host, open })
    } else await app.listen({ port, host })
    const url = addressOf(app.server.address() as AddressInfo, options)
    return { url, publicUrl: isAtLocalhost ? atLocalhost(url) : url, closeTwin }
  } catch (error) {
    throw listenError(error as NodeJS.ErrnoException, { port, host: (error as { address?: string }).address ?? host })
  }
}

type AddressOptions = Pick<ServeOptions, 'host' | 'publicUrl' | 'tlsCert'>

/**
 * True if the public address is that of localhost, because no option names one and only this machine can reach the server. A certificate may be
 * for another name.
 */
export const hasDefaultAtLocalhost = ({ host, publicUrl, tlsCert }: AddressOptions): boolean =>
  publicUrl === undefined && tlsCert === undefined && isLocalhost(host)

/** Replaces the loopback address of a server by the name that browsers store passkeys for. */
export const atLocalhost = (url: string): string =>
  url.replace(/^(http:\/\/)(?:127\.0\.0\.1|\[::1\])(?=:|$)/, '$1localhost')

/** Explains why a port or address cannot be opened, and what to do about it. */
export function listenError(
  error: NodeJS.ErrnoException,
  { port, host }: { port: number; host: string },
  options = { port: '--port', host: '--host' },
): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new StartupError(
        `Port ${port} on ${host} is taken. Stop the program that uses it, or choose another with ${options.port}.`,
      )
    case 'EACCES':
      return new StartupError(
        `Port ${port} needs a privilege that this user does not have. Choose one above 1023 with ${options.port}.`,
      )
    case 'EADDRNOTAVAIL':
    case 'EINVAL':
    case 'ENOTFOUND':
      return new StartupError(
        `This machine has no address ${host}. Choose an address of this machine with ${options.host}.`,
      )
    default:
      return error
  }
}

function addressOf({ port, family, address }: AddressInfo, { tlsCert }: ServeOptions): string {
  const host = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address
  return `${tlsCert ? 'https' : 'http'}://${host}:${port}`
}
