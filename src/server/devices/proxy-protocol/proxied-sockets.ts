// Reads the PROXY header of connections that come from trusted balancers, and passes the sockets on with their client's address.
import type { Socket } from 'node:net'
import type { TimeLimits } from '../../core/time-limits.ts'
import { readProxyHeader } from './proxy-header.ts'

/** The address of the other end of a connection. */
export interface SocketClient {
  readonly remoteAddress: string | undefined
}

export class ProxiedSockets {
  readonly #isTrusted: (ip: string | undefined) => boolean
  readonly #headerMs: number
  readonly #waiting = new Set<Socket>()

  constructor(isTrusted: (ip: string | undefined) => boolean, { mqttConnectMs }: TimeLimits) {
    this.#isTrusted = isTrusted
    this.#headerMs = mqttConnectMs
  }

  /**
   * Calls `accept` with the socket, from which only the header was read. A connection without a valid header is passed on as it
   * is: what it begins with is neither MQTT nor TLS then, and ends there.
   */
  receive(socket: Socket, accept: (socket: Socket, client: SocketClient) => void): void {
    const { remoteAddress } = socket
    if (!this.#isTrusted(remoteAddress)) {
      accept(socket, { remoteAddress })
      return
    }
    let received: Buffer = Buffer.alloc(0)
    const timer = setTimeout(() => socket.destroy(), this.#headerMs)
    const destroy = () => void socket.destroy()
    const stop = () => {
      clearTimeout(timer)
      this.#waiting.delete(socket)
      socket.off('readable', read).off('error', destroy).off('end', destroy).off('close', stop)
    }
    const read = () => {
      for (let piece = socket.read(); piece !== null; piece = socket.read()) received = Buffer.concat([received, piece])
      const header = readProxyHeader(received)
      if (received.length === 0 || header === 'incomplete') return
      stop()
      const rest = received.subarray(header?.bytes ?? 0)
      if (rest.length > 0) socket.unshift(rest)
      accept(socket, { remoteAddress: header?.sourceAddress ?? remoteAddress })
    }
    this.#waiting.add(socket)
    socket.on('readable', read).on('error', destroy).on('end', destroy).on('close', stop)
  }

  /** Ends the connections whose header has not come yet. */
  close(): void {
    for (const socket of this.#waiting) socket.destroy()
  }
}
