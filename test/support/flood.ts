// More requests than a server can answer, from a process of its own: `node test/support/flood.ts URL PATH KEY CONNECTIONS AHEAD SECONDS`.
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export interface Flood {
  readonly url: string
  readonly path: string
  readonly key: string
  readonly connections: number
  /** Requests that each connection has under way at any time. */
  readonly ahead: number
  /** The flood goes on for so long after every connection was answered once. */
  readonly seconds: number
}

export interface Flooded {
  /** The length of the flood. */
  readonly seconds: number
  /** Answers a second, by status. */
  readonly perSecond: Readonly<Record<string, number>>
  /** Connections that were accepted. */
  readonly accepted: number
  /** Milliseconds from a request to its answer. */
  readonly p50: number
  readonly p99: number
}

/** A connection that was not answered by then counts as one that was not accepted. */
const maxFirstAnswerMs = 60_000

export const floodFile = fileURLToPath(import.meta.url)

/** The smallest value that so many of a hundred do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? Number.NaN
}

class Caller {
  readonly #socket: Socket
  readonly #request: Buffer
  readonly #sentAt: number[] = []
  #received = Buffer.alloc(0)
  isAccepted = false

  constructor(port: number, request: Buffer, ahead: number, onAnswer: (status: string, ms: number) => void) {
    this.#request = request
    this.#socket = connect(port, '127.0.0.1', () => {
      for (let i = 0; i < ahead; i++) this.#send()
    })
    this.#socket.on('error', () => {})
    this.#socket.on('data', (bytes) => {
      this.isAccepted = true
      this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes])
      for (;;) {
        const end = this.#received.indexOf('\r\n\r\n')
        if (end === -1) return
        const head = this.#received.toString('latin1', 0, end)
        const length = end + 4 + Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0)
        if (this.#received.length < length) return
        this.#received = this.#received.subarray(length)
        onAnswer(head.slice(9, 12), performance.now() - (this.#sentAt.shift() ?? 0))
        this.#send()
      }
    })
  }

  #send(): void {
    this.#sentAt.push(performance.now())
    this.#socket.write(this.#request)
  }

  close(): void {
    this.#socket.destroy()
  }
}

async function flood({ url, path, key, connections, ahead, seconds }: Flood, onUnderWay: () => void): Promise<Flooded> {
  const { port } = new URL(url)
  const request = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`)
  const counts: Record<string, number> = {}
  const times: number[] = []
  const onAnswer = (status: string, ms: number) => {
    counts[status] = (counts[status] ?? 0) + 1
    times.push(ms)
  }
  const started = performance.now()
  const callers = Array.from({ length: connections }, () => new Caller(Number(port), request, ahead, onAnswer))
  const areAllAccepted = () => callers.every(({ isAccepted }) => isAccepted)
  while (!areAllAccepted() && performance.now() - started < maxFirstAnswerMs) await pause(5)
  onUnderWay()
  await pause(seconds * 1000)
  for (const caller of callers) caller.close()
  const elapsedSeconds = (performance.now() - started) / 1000
  return {
    seconds: elapsedSeconds,
    perSecond: Object.fromEntries(
      Object.entries(counts).map(([status, count]) => [status, Math.round(count / elapsedSeconds)]),
    ),
    accepted: callers.filter(({ isAccepted }) => isAccepted).length,
    p50: Math.round(percentile(times, 50)),
    p99: Math.round(percentile(times, 99)),
  }
}

if (process.argv[1] === floodFile) {
  const [url = '', path = '', key = '', connections, ahead, seconds] = process.argv.slice(2)
  const numbers = { connections: Number(connections), ahead: Number(ahead), seconds: Number(seconds) }
  const flooded = await flood({ url, path, key, ...numbers }, () => process.stdout.write('under way\n'))
  process.stdout.write(JSON.stringify(flooded))
}
