// NATS core, a peer that could carry the messages between nodes. Its text protocol is spoken over plain sockets.
import { connect, type Socket } from 'node:net'
import { need, programPath } from '../../test/support/debian.ts'
import type { Cleanup } from '../cleanup.ts'
import { findFreePort } from './roomkeeper.ts'
import { Subprocess } from './subprocess.ts'

const subject = 'nodes'

export interface NatsPeer {
  readonly name: string
  readonly process: Subprocess
  /** Sends a message to every client, also to the one that sends it, as PostgreSQL does. */
  publish(client: number, payload: string): void
  /** Waits until every client has received everything that was sent before. */
  drain(): Promise<void>
}

/** Starts a server with that many connected clients. Returns undefined where NATS cannot be installed. */
export async function startNats(cleanup: Cleanup, clientCount: number): Promise<NatsPeer | undefined> {
  try {
    need('nats-server')
  } catch (error) {
    process.stdout.write(`NATS is left out: ${(error as Error).message}\n`)
    return undefined
  }
  const port = await findFreePort()
  const server = new Subprocess('NATS', ['-a', '127.0.0.1', '-p', `${port}`], programPath('nats-server'))
  cleanup.add(() => server.stop())
  const [, version = ''] = await server.waitForOutput(/Version:\s+(\S+)/)
  await server.waitForOutput(/Server is ready/)
  const clients = await Promise.all(Array.from({ length: clientCount }, () => connectClient(port)))
  cleanup.add(() => {
    for (const client of clients) client.destroy()
  })
  return {
    name: `NATS core ${version}`,
    process: server,
    publish: (client, payload) =>
      void clients[client]?.write(`PUB ${subject} ${Buffer.byteLength(payload)}\r\n${payload}\r\n`),
    drain: async () => {
      // After the first PONGs the server has routed everything that was published. The second PONG of each client follows the messages that were routed to it.
      for (let pass = 0; pass < 2; pass++) await Promise.all(clients.map(ping))
    },
  }
}

async function connectClient(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').setNoDelay().setEncoding('utf8')
  socket.write(`CONNECT {"verbose":false}\r\nSUB ${subject} 1\r\n`)
  await ping(socket)
  return socket
}

function ping(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const listen = (text: string) => {
      if (!text.includes('PONG\r\n')) return
      socket.off('data', listen)
      resolve()
    }
    socket.on('data', listen)
    socket.write('PING\r\n')
  })
}
