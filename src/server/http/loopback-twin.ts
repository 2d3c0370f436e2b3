// Lets the name localhost lead to a server: browsers and devices try ::1 and 127.0.0.1, in either order.
import { createServer, type Server } from 'node:net'

/** The other address of localhost, for a server that listens on one of the two. */
const twinHostOf = (host: string): string => (host === '::1' ? '127.0.0.1' : '::1')

/** A machine without IPv6, or without IPv4, lacks the address: localhost leads to the other one there. */
const absentCodes: readonly unknown[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT']
const maxAttempts = 10

interface TwinRequest {
  readonly port: number
  readonly host: string
  readonly backlog?: number
  /** Opens the server itself, at this port. */
  readonly open: (port: number) => Promise<unknown>
}

/**
 * Opens a server, and on the other address of localhost a second one that gives its connections to the first. With port 0 both get the same
 * free port. Returns the function that closes the second one to new connections.
 */
export async function openWithTwin(server: Server, request: TwinRequest): Promise<() => void> {
  for (let attempt = 1; ; attempt++) {
    const twin = await openTwin(server, request)
    try {
      await request.open(twin?.port ?? request.port)
      return () => twin?.close()
    } catch (error) {
      twin?.close()
      const isRetried = request.port === 0 && (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      if (!isRetried || attempt === maxAttempts) throw error
    }
  }
}

/** Returns undefined on a machine that lacks the address. */
async function openTwin(server: Server, { port, host, backlog }: TwinRequest) {
  // Same socket options as Node's HTTP server, which ends its half itself.
  const twin = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => void server.emit('connection', socket))
  try {
    await new Promise<void>((resolve, reject) => {
      twin.once('error', reject)
      twin.listen({ port, host: twinHostOf(host), ...(backlog !== undefined && { backlog }) }, resolve)
    })
  } catch (error) {
    if (absentCodes.includes((error as NodeJS.ErrnoException).code)) return undefined
    throw error
  }
  const address = twin.address()
  return { port: typeof address === 'object' && address ? address.port : port, close: () => void twin.close() }
}
