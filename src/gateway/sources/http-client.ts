// HTTP requests of a source's driver through the gateway's network: no redirects, a largest answer, and a time limit for each.
import type { Socket } from 'node:net'
import type { Pool } from 'undici'
import { retryAfterMs } from '../../client/back-off.ts'
import { secondMs } from '../../contract/durations.ts'
import { type DeviceCertificate, type DeviceNetwork, DriverFailure } from '../driver.ts'
import { SourceFailure, sourceFailureOf } from './source.ts'

const usualTimeoutMs = 30 * secondMs
const usualMaxAnswerBytes = 16 * 1024 * 1024
const connectMs = 10 * secondMs
/** At most this many connections for reading; requests beyond them wait. */
const maxConnections = 4

export interface HttpTarget {
  /** The address of the source: https://, or http:// to a private address. A path in it comes before the path of each request. */
  readonly url: string
  readonly network: DeviceNetwork
  /** Aborting it ends all requests and connections. */
  readonly signal: AbortSignal
  readonly fingerprint?: string | undefined
  readonly authority?: string | undefined
}

export interface HttpRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Begins with a slash, and can have a query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** For the whole request, from the connection to the last byte of the answer. */
  readonly timeoutMs?: number
  readonly maxAnswerBytes?: number
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: Headers
  /** The wait in Retry-After. */
  readonly retryAfterMs: number | undefined
  readonly text: string
}

/** There is no answer that can be used. */
export class HttpFailure extends SourceFailure {
  /** False if the request certainly did not reach the source. */
  readonly wasSent: boolean

  constructor({ state, message, cause, retryAfterMs }: SourceFailure, wasSent: boolean) {
    super(state, message, { cause, retryAfterMs })
    this.wasSent = wasSent
  }
}

export class SourceHttp {
  readonly #target: HttpTarget
  readonly #url: URL
  #pools: Promise<{ readonly reading: Pool; readonly writing: Pool }> | undefined
  /** The certificate of the last connection. */
  certificate: DeviceCertificate | undefined

  constructor(target: HttpTarget) {
    this.#target = target
    this.#url = new URL(target.url)
  }

  /** Resolves to any answer but a redirect. Rejects with an HttpFailure. */
  async send({ method = 'GET', path, headers = {}, body, ...limits }: HttpRequest): Promise<HttpAnswer> {
    const { timeoutMs = usualTimeoutMs, maxAnswerBytes = usualMaxAnswerBytes } = limits
    const { signal } = this.#target
    const timeout = AbortSignal.timeout(timeoutMs)
    try {
      this.#pools ??= this.#open()
      const { reading, writing } = await this.#pools
      const pool = method === 'GET' ? reading : writing
      const answer = await pool.request({
        method,
        path: this.#url.pathname.replace(/\/+$/, '') + path,
        headers: { ...headers, 'accept-encoding': 'identity' },
        ...(body !== undefined && { body }),
        signal: AbortSignal.any([signal, timeout]),
      })
      const { statusCode: status } = answer
      if (status >= 300 && status < 400 && status !== 304) {
        answer.body.on('error', () => {}).destroy()
        throw this.#failure('FAILING', `redirects to another address (${status}). Redirects are not followed`)
      }
      const answerHeaders = headersOf(answer.headers)
      const text = await this.#readText(answer.body, maxAnswerBytes)
      return { status, headers: answerHeaders, retryAfterMs: retryAfterMs(answerHeaders), text }
    } catch (error) {
      signal.throwIfAborted()
      // Only the connection fails with a DriverFailure.
      if (error instanceof DriverFailure) throw new HttpFailure(sourceFailureOf(error), false)
      if (error instanceof SourceFailure) throw new HttpFailure(error, true)
      const seconds = Math.round(timeoutMs / 1000)
      const text = timeout.aborted ? `did not answer within ${seconds} s` : brokenText(error as NodeJS.ErrnoException)
      throw new HttpFailure(this.#failure('UNREACHABLE', text, error as Error), true)
    }
  }

  async close(): Promise<void> {
    const pools = await this.#pools?.catch(() => undefined)
    await Promise.all([pools?.reading.destroy(), pools?.writing.destroy()])
  }

  /** Loaded at its first use, because most gateways have no source. */
  async #open() {
    const { Pool } = await import('undici')
    const connect = (_: object, callback: (...args: [null, Socket] | [Error, null]) => void) => {
      this.#connect().then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      )
    }
    const { origin } = this.#url
    const options = { connect, allowH2: false, headersTimeout: 0, bodyTimeout: 0 }
    return {
      reading: new Pool(origin, { ...options, connections: maxConnections }),
      // No connection is used twice: one that is idle can end at the moment when a request is sent that must not be repeated.
      writing: new Pool(origin, { ...options, pipelining: 0 }),
    }
  }

  async #connect(): Promise<Socket> {
    const { network, signal, fingerprint, authority } = this.#target
    const { protocol, hostname, port } = this.#url
    const isTls = protocol === 'https:'
    const to = { host: hostname, port: Number(port || (isTls ? 443 : 80)), timeoutMs: connectMs, signal }
    if (!isTls) return network.connect(to)
    const { socket, certificate } = await network.connectTls({ ...to, fingerprint, authority })
    this.certificate = certificate
    return socket
  }

  async #readText(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
    const parts: Buffer[] = []
    let size = 0
    // Leaving the loop early closes the connection.
    for await (const part of body) {
      size += part.byteLength
      if (size > maxBytes) throw this.#failure('FAILING', `sent an answer of more than ${maxBytes} bytes`)
      parts.push(part)
    }
    return Buffer.concat(parts).toString()
  }

  #failure(state: SourceFailure['state'], text: string, cause?: Error): SourceFailure {
    return new SourceFailure(state, `${this.#url.host} ${text}.`, { cause })
  }
}

function headersOf(headers: Record<string, string | string[] | undefined>): Headers {
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value ?? '']).map((text): [string, string] => [name, text]),
  )
  return new Headers(pairs)
}

const brokenText = ({ code, message }: NodeJS.ErrnoException): string =>
  code?.startsWith('HPE_')
    ? 'does not answer with HTTP'
    : `closed the connection before its answer was complete (${code ?? message})`
