// A TCP proxy that a test can interrupt and restore, or that drops what is sent.
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Wire {
  readonly url: string
  readonly port: number
  /** How many connections have come in, even while it was cut. */
  readonly connectionCount: number
  /** Ends every connection and takes no new one. */
  cut(): void
  mend(): void
  /** Nothing passes any more, in either direction, without an error on either side. */
  swallow(): void
  /** Bytes that were sent while it was cut arrive now, as if TCP had sent them again. */
  release(): void
  /** Connections that are open never work again, without a sign; new ones do. */
  loseOpen(): void
  /** Bytes that were sent on those connections arrive after all, too late. */
  deliverLost(): void
}

/** The two ends of a connection. */
interface Pair {
  readonly near: Socket
  readonly far: Socket
}

/** Is closed when its test has ended. */
export async function wireTo(url: string): Promise<Wire> {
  const wire = await openWire(url)
  onTestFinished(() => wire.close())
  return wire
}

/** For all tests of a suite, which closes it. The address has the given port, or any. */
export async function openWire(url: string, atPort = 0): Promise<Wire & { close(): void }> {
  const { hostname, port } = new URL(url)
  const pairs = new Set<Pair>()
  const lost = new Set<Pair>()
  let isCut = false
  let isSwallowing = false
  let connectionCount = 0
  const server = createServer((near) => {
    connectionCount++
    if (isCut) return void near.destroy()
    const pair = { near, far: connect(Number(port), hostname) }
    pairs.add(pair)
    for (const [one, other] of [
      [near, pair.far],
      [pair.far, near],
    ] as const) {
      one
        .on('error', () => {})
        .once('close', () => {
          pairs.delete(pair)
          if (!lost.has(pair)) other.destroy()
        })
    }
    if (!isSwallowing) join(pair)
  })
  server.listen(atPort, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const endAll = () => {
    for (const { near, far } of [...pairs, ...lost]) {
      near.destroy()
      far.destroy()
    }
  }
  const near = (server.address() as { port: number }).port
  return {
    url: `http://127.0.0.1:${near}`,
    port: near,
    get connectionCount() {
      return connectionCount
    },
    cut() {
      isCut = true
      endAll()
    },
    mend() {
      isCut = false
    },
    swallow() {
      isSwallowing = true
      for (const pair of pairs) part(pair)
    },
    release() {
      isSwallowing = false
      for (const pair of pairs) if (!lost.has(pair)) join(pair)
    },
    loseOpen() {
      for (const pair of pairs) {
        part(pair)
        lost.add(pair)
      }
    },
    deliverLost() {
      for (const pair of lost) join(pair)
    },
    close() {
      endAll()
      server.close()
    },
  }
}

function join({ near, far }: Pair): void {
  near.pipe(far)
  far.pipe(near)
}

function part({ near, far }: Pair): void {
  near.unpipe(far)
  far.unpipe(near)
  near.pause()
  far.pause()
}
