// One HTTP connection that is kept open: sends a request, reads the whole answer, asks for no compression.
import { Agent, type IncomingMessage, request } from 'node:http'

interface Call {
  readonly key?: string
  readonly body?: unknown
  /** What the answer has to have: a bench of failures measures nothing. */
  readonly status?: number
}

export interface Answer {
  readonly bytes: Buffer
  /** Names and values in turns, as they came. */
  readonly headers: readonly string[]
  /** Milliseconds until its last byte. */
  readonly ms: number
}

export class HttpClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  async send(method: string, path: string, { key, body, status = 200 }: Call = {}): Promise<Answer> {
    const started = performance.now()
    const sent = body === undefined ? undefined : JSON.stringify(body)
    const headers = {
      ...(key && { authorization: `Bearer ${key}` }),
      ...(sent !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }),
    }
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    request(this.#url + path, { method, headers, agent: this.#agent }, resolve)
      .on('error', reject)
      .end(sent)
    const response = await promise
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    const bytes = Buffer.concat(chunks)
    if (response.statusCode !== status) throw new Error(`${method} ${path}: ${response.statusCode} ${bytes}`)
    return { bytes, headers: response.rawHeaders, ms: performance.now() - started }
  }

  // biome-ignore lint/suspicious/noExplicitAny: a bench looks into answers freely; tests check their shape
  async json(method: string, path: string, call: Call = {}): Promise<any> {
    return JSON.parse((await this.send(method, path, call)).bytes.toString())
  }

  close(): void {
    this.#agent.destroy()
  }
}
