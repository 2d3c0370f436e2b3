// A wire between a browser and the service that a test can cut and mend.
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Wire {
  readonly url: string
  /** Ends every connection and takes no new one. */
  cut(): void
  mend(): void
}

export async function wireTo(url: string): Promise<Wire> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  let isCut = false
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('close', () => sockets.delete(socket))
  }
  const server = createServer((near) => {
    if (isCut) return void near.destroy()
    const far = connect(Number(port), hostname)
    keep(near)
    keep(far)
    near.pipe(far).pipe(near)
    near.once('close', () => far.destroy())
    far.once('close', () => near.destroy())
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const endAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(() => {
    endAll()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    cut() {
      isCut = true
      endAll()
    },
    mend() {
      isCut = false
    },
  }
}
