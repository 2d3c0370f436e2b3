// One HTTP connection that stays open: it sends a request, reads the whole answer and asks for no compression.
import { Agent, type IncomingMessage, request } from 'node:http'

interface Call {
  readonly key?: string
  readonly body?: unknown
  /** The expected status. Any other is an error, because failures must not be measured. */
  readonly status?: number
}

export interface ClientAnswer {
  readonly bytes: Buffer
  /** Names and values in turns, as Node delivers raw headers. */
  readonly headers: readonly string[]
  /** Time from the request to the last byte of the answer. */
  readonly ms: number
}

export class HttpClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  async send(method: string, path: string, { key, body, status = 200 }: Call = {}): Promise<ClientAnswer> {
    const startedAt = performance.now()
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = {
      ...(key && { authorization: `Bearer ${key}` }),
      ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    }
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    request(this.#url + path, { method, headers, agent: this.#agent }, resolve)
      .on('error', reject)
      .end(text)
    const response = await promise
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    const bytes = Buffer.concat(chunks)
    if (response.statusCode !== status)
      throw new Error(`${method} ${path} was answered with ${response.statusCode}: ${bytes}`)
    return { bytes, headers: response.rawHeaders, ms: performance.now() - startedAt }
  }

  // biome-ignore lint/suspicious/noExplicitAny: benches read single fields of answers; tests check the shape
  async json(method: string, path: string, call: Call = {}): Promise<any> {
    return JSON.parse((await this.send(method, path, call)).bytes.toString())
  }

  close(): void {
    this.#agent.destroy()
  }
}
