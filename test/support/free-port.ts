// Free ports for servers whose address must be known before they start.
import { createServer } from 'node:net'

/** Below 32768, where Linux begins to choose ports for connections and for servers that ask for any port. */
const firstPort = 12_000
const portsPerWorker = 2_000
/** Runs that follow each other begin at different ports. */
let next = process.pid % portsPerWorker

/** A port of 127.0.0.1 on which nothing listens, and which no other worker of this run is given. */
export async function freePort(): Promise<number> {
  // Vitest numbers its workers from 1; the process that starts them has no number.
  const worker = Number(process.env.VITEST_POOL_ID ?? 0) % 10
  for (let attempt = 0; attempt < portsPerWorker; attempt++) {
    const port = firstPort + worker * portsPerWorker + (next++ % portsPerWorker)
    if (await isFree(port)) return port
  }
  throw new Error(`No port of worker ${worker} is free.`)
}

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
