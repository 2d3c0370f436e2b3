// Callers made as cheap as possible: HTTP by hand over sockets that stay open, prepared requests, one in flight on each.
import { connect, type Socket } from 'node:net'
import type { Run } from '../measure/comparison.ts'

/** The n-th request, as it goes over the wire. */
export type Request = Buffer | ((n: number) => Buffer)

interface Call {
  readonly key?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Nobody asks for compression. */
export function requestOf(method: string, path: string, { key, body, headers = {} }: Call = {}): Buffer {
  const sent = body === undefined ? '' : JSON.stringify(body)
  const all = {
    Host: '127.0.0.1',
    ...(key !== undefined && { Authorization: `Bearer ${key}` }),
    ...(body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': `${Buffer.byteLength(sent)}` }),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${sent}`)
}

/** One after the other, and again from the first. */
export function inTurns(requests: readonly Buffer[]): () => Buffer {
  let next = 0
  return () => requests[next++ % requests.length] as Buffer
}

const endOfHead = Buffer.from('\r\n\r\n')

class Caller {
  readonly #socket: Socket
  /** Of the present answer: the start of its head, as long as that is not complete. */
  #head: Buffer | undefined
  /** Bytes of its body that are still to come. */
  #left = 0
  #status = 0
  #sentAt = 0
  #trouble: Error | undefined
  onAnswer: (status: number, latency: number) => void = () => {}
  onTrouble: (error: Error) => void = () => {}

  constructor(port: number, onConnect: () => void) {
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: Buffer.alloc(256 * 1024),
        callback: (count, bytes) => {
          this.#read((bytes as Buffer).subarray(0, count))
          return true
        },
      },
    })
    this.#socket.once('connect', onConnect)
    this.#socket.on('error', (error) => this.#fail(error))
    this.#socket.on('close', () => this.#fail(new Error('the server ended a connection')))
  }

  send(request: Buffer): void {
    if (this.#trouble) {
      this.onTrouble(this.#trouble)
      return
    }
    this.#sentAt = performance.now()
    this.#socket.write(request)
  }

  close(): void {
    this.onTrouble = () => {}
    this.#socket.destroy()
  }

  /** Also remembered: nobody may be listening between two rounds. */
  #fail(error: Error): void {
    this.#trouble ??= error
    this.onTrouble(this.#trouble)
  }

  #read(bytes: Buffer): void {
    if (this.#left > 0) {
      this.#left -= bytes.length
    } else {
      const all = this.#head ? Buffer.concat([this.#head, bytes]) : bytes
      const end = all.indexOf(endOfHead)
      if (end === -1) {
        // The memory behind the bytes is used again for the next ones.
        this.#head = Buffer.from(all)
        return
      }
      this.#head = undefined
      const head = all.toString('latin1', 0, end)
      this.#status = Number(head.slice(9, 12))
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
      if (length === undefined && this.#status !== 304) {
        this.onTrouble(new Error(`an answer without Content-Length: ${head}`))
        return
      }
      this.#left = (this.#status === 304 ? 0 : Number(length)) - (all.length - end - endOfHead.length)
    }
    if (this.#left < 0) this.onTrouble(new Error('an answer is longer than it says'))
    else if (this.#left === 0) this.onAnswer(this.#status, performance.now() - this.#sentAt)
  }
}

export class HttpLoad {
  readonly #callers: readonly Caller[]

  private constructor(callers: readonly Caller[]) {
    this.#callers = callers
  }

  static async connect(url: string, connections: number): Promise<HttpLoad> {
    const port = Number(new URL(url).port)
    const callers: Caller[] = []
    await Promise.all(
      Array.from({ length: connections }, async () => {
        await new Promise<void>((resolve, reject) => {
          const caller = new Caller(port, resolve)
          caller.onTrouble = reject
          callers.push(caller)
        })
      }),
    )
    return new HttpLoad(callers)
  }

  /** So many requests in all. An answer with another status is an error: a bench of failures measures nothing. */
  send(count: number, request: Request, status = 200): Promise<Run> {
    const latencies = new Float64Array(count)
    let [sent, answered] = [0, 0]
    const started = performance.now()
    return new Promise((resolve, reject) => {
      const next = (caller: Caller) => {
        if (sent === count) return
        caller.send(typeof request === 'function' ? request(sent) : request)
        sent++
      }
      for (const caller of this.#callers) {
        caller.onTrouble = reject
        caller.onAnswer = (got, latency) => {
          if (got !== status) {
            reject(new Error(`the answer was ${got}, not ${status}`))
            return
          }
          latencies[answered++] = latency
          next(caller)
          if (answered === count) resolve({ latencies, seconds: (performance.now() - started) / 1000 })
        }
        next(caller)
      }
    })
  }

  close(): void {
    for (const caller of this.#callers) caller.close()
  }
}
