// Passes the HTTP requests of a device on to the server, and notes each with its answer. It can answer a request itself.
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { createWebSocketStream, WebSocketServer } from 'ws'
import { devicePaths } from '../../contract/device/protocol.ts'
import type { Exchange } from './facts.ts'
import type { RelayAddress } from './mqtt-relay.ts'

/** An answer that device-check gives instead of the service. */
export interface StagedAnswer {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly headers?: Record<string, string>
}

interface HttpRelayHandlers {
  /** Returns the answer to give, or undefined to pass the request on. */
  stage(method: string, path: string): StagedAnswer | undefined
  onExchange(exchange: Exchange): void
  /** MQTT over WebSocket. */
  onSocket(socket: Duplex): void
}

/** Enough for the error that the service answers with. */
const maxNotedBytes = 4096

export class HttpRelay {
  /** The port of the server on this machine; undefined while it is stopped. */
  serverPort: number | undefined
  readonly #handlers: HttpRelayHandlers
  readonly #sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has('mqtt') ? 'mqtt' : false),
  })
  #server: Server | undefined

  constructor(handlers: HttpRelayHandlers) {
    this.#handlers = handlers
  }

  /** Returns the port. */
  async listen({ host, port, tls }: RelayAddress): Promise<number> {
    const handle = (incoming: IncomingMessage, answer: ServerResponse) => this.#handle(incoming, answer)
    const server = tls ? createTlsServer(tls, handle) : createServer(handle)
    server.on('upgrade', (incoming, socket, head) => {
      socket.on('error', () => socket.destroy())
      if (incoming.url?.split('?')[0] !== devicePaths.mqtt) return void socket.destroy()
      this.#sockets.handleUpgrade(incoming, socket, head, (webSocket) =>
        this.#handlers.onSocket(createWebSocketStream(webSocket)),
      )
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, resolve)
    })
    this.#server = server
    return (server.address() as AddressInfo).port
  }

  close(): void {
    this.#server?.close()
    this.#server?.closeAllConnections()
  }

  #handle(incoming: IncomingMessage, answer: ServerResponse): void {
    const { method = '', url: path = '' } = incoming
    const note = (status: number, message: string | undefined, isStaged: boolean) =>
      this.#handlers.onExchange({ atMs: performance.now(), method, path, status, message, isStaged })
    const staged = this.#handlers.stage(method, path) ?? (this.serverPort === undefined ? unavailable : undefined)
    if (staged) {
      incoming.resume().once('end', () => {
        const { status, code, message, headers } = staged
        answer.writeHead(status, { 'content-type': 'application/json', ...headers })
        answer.end(JSON.stringify({ status, code, message, requestId: 'device-check' }))
        note(status, message, true)
      })
      return
    }
    const options = { host: '127.0.0.1', port: this.serverPort, method, path, headers: incoming.headers }
    const outgoing = request(options, (response) => {
      const pieces: Buffer[] = []
      let bytes = 0
      response.on('data', (piece: Buffer) => {
        if (bytes < maxNotedBytes) pieces.push(piece)
        bytes += piece.length
      })
      response.once('end', () => note(response.statusCode ?? 0, messageIn(Buffer.concat(pieces).toString()), false))
      answer.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(answer)
    })
    outgoing.once('error', () => answer.destroy())
    incoming.once('error', () => outgoing.destroy())
    incoming.pipe(outgoing)
  }
}

const unavailable: StagedAnswer = {
  status: 503,
  code: 'UNAVAILABLE',
  message: 'the service is restarting. Try again in a moment.',
  headers: { 'retry-after': '1' },
}

function messageIn(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text)
    return typeof message === 'string' ? message : undefined
  } catch {
    return undefined
  }
}
