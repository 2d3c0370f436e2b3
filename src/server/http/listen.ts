// Opens the port, and explains what is wrong when that fails.
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { ServeOptions } from '../config/server-options.ts'
import { StartupError } from '../core/failure.ts'

/** Starts to listen, and returns an address that works from this machine. */
export async function listen(app: FastifyInstance, options: ServeOptions): Promise<string> {
  const { port, host } = options
  try {
    await app.listen({ port, host })
  } catch (error) {
    throw listenError(error as NodeJS.ErrnoException, options)
  }
  return addressOf(app.server.address() as AddressInfo, options)
}

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
