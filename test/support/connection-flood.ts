// Clients that open a connection for every request, from a process of their own: `node test/support/connection-flood.ts URL CLIENTS SECONDS`.
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'

export const connectionFloodFile = fileURLToPath(import.meta.url)

/** Returns how many connections were answered in a second. */
export async function floodWithConnections(url: string, clients: number, seconds: number): Promise<number> {
  const port = Number(new URL(url).port)
  const end = performance.now() + seconds * 1000
  let answered = 0
  const open = (): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () =>
        socket.write('GET /v1/orgs/x/regions HTTP/1.1\r\nHost: x\r\n\r\n'),
      )
      socket.on('error', () => {})
      socket.once('data', () => {
        answered++
        socket.resetAndDestroy()
      })
      socket.once('close', () => resolve())
      setTimeout(() => socket.destroy(), end - performance.now() + 1000).unref()
    })
  const client = async () => {
    while (performance.now() < end) await open()
  }
  await Promise.all(Array.from({ length: clients }, client))
  return Math.round(answered / seconds)
}

if (process.argv[1] === connectionFloodFile) {
  const [url = '', clients, seconds] = process.argv.slice(2)
  process.stdout.write(`${await floodWithConnections(url, Number(clients), Number(seconds))}`)
}
