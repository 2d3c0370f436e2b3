// A proxy in front of a Roomkeeper that plays Neat Pulse: counts the requests, forgets Idempotency-Key, and injects failures.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'

export interface SeenRequest {
  readonly method: string
  readonly orgId: string
  /** From the organisation on, such as /endpoints/sensor. */
  readonly path: string
  readonly body: string
  readonly atMs: number
  /** The status of the answer that was passed on; undefined if there was none. */
  status?: number
}

/** An answer of the proxy's own, an answer that is changed, or one that is lost: before the request arrives, or after. */
export type Fault =
  | { readonly status: number; readonly text?: string; readonly headers?: Record<string, string> }
  | { readonly change: (text: string) => string; readonly path?: RegExp }
  | 'lost before'
  | 'lost after'

export class UpstreamProxy {
  readonly requests: SeenRequest[] = []
  /** Undefined lets a request pass. */
  fault: (request: SeenRequest) => Fault | undefined = () => undefined
  /** A request that changes something is on its way for so long, and so is its answer. */
  writeDelayMs = 0
  readonly #target: string
  readonly #server = createServer((request, response) => {
    this.#pass(request, response).catch(() => response.destroy())
  })

  private constructor(target: string) {
    this.#target = target.replace(/\/+$/, '')
  }

  /** Ends with the test, unless `close` is called by a hook of a file. */
  static async start(target: string, { isForFile = false } = {}): Promise<UpstreamProxy> {
    const proxy = new UpstreamProxy(target)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    if (!isForFile) onTestFinished(() => proxy.close())
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The requests that change something. */
  get writes(): SeenRequest[] {
    return this.requests.filter(({ method }) => method !== 'GET')
  }

  /** The most requests within any time of this length. */
  mostWithin(ms: number): number {
    const times = this.requests.map(({ atMs }) => atMs)
    return Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + ms).length))
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const atMs = performance.now()
    const { method = 'GET', url = '/' } = request
    let body = ''
    for await (const part of request) body += part
    const orgId = /\/v1\/orgs\/([^/]+)/.exec(url)?.[1] ?? ''
    const seen: SeenRequest = { method, orgId, path: url.replace(/^.*\/v1\/orgs\/[^/]+/, ''), body, atMs }
    this.requests.push(seen)
    const fault = this.fault(seen)
    if (fault === 'lost before') return void response.destroy()
    if (typeof fault === 'object' && 'status' in fault)
      return void response.writeHead(fault.status, fault.headers).end(fault.text ?? '')
    const wayMs = method === 'GET' ? 0 : this.writeDelayMs
    await pause(wayMs)
    const { authorization = '', accept = '' } = request.headers
    const answer = await fetch(this.#target + url, {
      method,
      headers: { authorization, accept, ...(body !== '' && { 'content-type': 'application/json' }) },
      ...(body !== '' && { body }),
    })
    const text = await answer.text()
    if (fault === 'lost after') return void response.destroy()
    await pause(wayMs)
    seen.status = answer.status
    response
      .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' })
      .end(fault ? fault.change(text) : text)
  }
}
