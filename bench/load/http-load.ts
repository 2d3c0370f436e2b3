// HTTP load at minimal cost: prepared requests by hand over sockets that stay open, one request in flight on each.
import { connect, type Socket } from 'node:net'
import type { LoadResult } from './load-result.ts'

/** The bytes of the n-th request. */
export type RequestSource = Buffer | ((n: number) => Buffer)

interface Call {
  readonly key?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Encodes a request. It has no Accept-Encoding, so answers are not compressed. */
export function makeRequest(method: string, path: string, { key, body, headers = {} }: Call = {}): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body)
  const all = {
    Host: '127.0.0.1',
    ...(key !== undefined && { Authorization: `Bearer ${key}` }),
    ...(body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': `${Buffer.byteLength(text)}` }),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`)
}

/** Returns the requests one after the other, and starts again from the first. */
export function cycle(requests: readonly Buffer[]): () => Buffer {
  let next = 0
  return () => requests[next++ % requests.length] as Buffer
}

const endOfHead = Buffer.from('\r\n\r\n')

class HttpConnection {
  readonly #socket: Socket
  /** The start of the current answer's head, until the head is complete. */
  #partialHead: Buffer | undefined
  /** Bytes of the current answer's body that have not arrived. */
  #remainingBytes = 0
  #status = 0
  #sentAt = 0
  #error: Error | undefined
  onAnswer: (status: number, latencyMs: number) => void = () => {}
  onError: (error: Error) => void = () => {}

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
    this.#socket.on('close', () => this.#fail(new Error('The server closed a connection.')))
  }

  send(request: Buffer): void {
    if (this.#error) {
      this.onError(this.#error)
      return
    }
    this.#sentAt = performance.now()
    this.#socket.write(request)
  }

  close(): void {
    this.onError = () => {}
    this.#socket.destroy()
  }

  /** The error is stored too, because between two rounds there is no listener. */
  #fail(error: Error): void {
    this.#error ??= error
    this.onError(this.#error)
  }

  #read(bytes: Buffer): void {
    if (this.#remainingBytes > 0) {
      this.#remainingBytes -= bytes.length
    } else {
      const all = this.#partialHead ? Buffer.concat([this.#partialHead, bytes]) : bytes
      const end = all.indexOf(endOfHead)
      if (end === -1) {
        // The bytes are copied because Node reuses the read buffer.
        this.#partialHead = Buffer.from(all)
        return
      }
      this.#partialHead = undefined
      const head = all.toString('latin1', 0, end)
      this.#status = Number(head.slice(9, 12))
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
      if (length === undefined && this.#status !== 304) {
        this.onError(new Error(`An answer has no Content-Length: ${head}`))
        return
      }
      this.#remainingBytes = (this.#status === 304 ? 0 : Number(length)) - (all.length - end - endOfHead.length)
    }
    if (this.#remainingBytes < 0) this.onError(new Error('An answer is longer than its Content-Length.'))
    else if (this.#remainingBytes === 0) this.onAnswer(this.#status, performance.now() - this.#sentAt)
  }
}

export class HttpLoad {
  readonly #connections: readonly HttpConnection[]

  private constructor(opened: readonly HttpConnection[]) {
    this.#connections = opened
  }

  static async connect(url: string, connections: number): Promise<HttpLoad> {
    const port = Number(new URL(url).port)
    const opened: HttpConnection[] = []
    await Promise.all(
      Array.from({ length: connections }, async () => {
        await new Promise<void>((resolve, reject) => {
          const connection = new HttpConnection(port, resolve)
          connection.onError = reject
          opened.push(connection)
        })
      }),
    )
    return new HttpLoad(opened)
  }

  /** Sends `count` requests. An answer with another status is an error, because failures must not be measured. */
  send(count: number, request: RequestSource, status = 200): Promise<LoadResult> {
    const latenciesMs = new Float64Array(count)
    let [sent, answered] = [0, 0]
    const startedAt = performance.now()
    return new Promise((resolve, reject) => {
      const sendNext = (connection: HttpConnection) => {
        if (sent === count) return
        connection.send(typeof request === 'function' ? request(sent) : request)
        sent++
      }
      for (const connection of this.#connections) {
        connection.onError = reject
        connection.onAnswer = (received, latencyMs) => {
          if (received !== status) {
            reject(new Error(`A request was answered with ${received} instead of ${status}.`))
            return
          }
          latenciesMs[answered++] = latencyMs
          sendNext(connection)
          if (answered === count) resolve({ latenciesMs, seconds: (performance.now() - startedAt) / 1000 })
        }
        sendNext(connection)
      }
    })
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
  }
}
