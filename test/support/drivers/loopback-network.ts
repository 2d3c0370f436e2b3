// A network for drivers that reaches 127.0.0.1 only, for tests of one driver without a gateway.
import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { type DeviceNetwork, DriverFailure } from '../../../src/gateway/driver.ts'

const loopback = '127.0.0.1'

/** An authority that is trusted in addition to the ones that Node has. */
export const loopbackTrusting = (ca?: string): DeviceNetwork => ({
  resolve: async () => loopback,
  connect: ({ port, timeoutMs, signal }) => opened(connectTcp({ host: loopback, port }), 'connect', timeoutMs, signal),
  async connectTls({ port, timeoutMs, signal, fingerprint, allowsOldTls, allowsUntrusted }) {
    const old = allowsOldTls ? ({ minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const) : {}
    const trust = ca === undefined ? {} : { ca }
    const dialled = connectTls({ host: loopback, port, rejectUnauthorized: false, ...trust, ...old })
    const socket = await opened<TLSSocket>(dialled, 'secureConnect', timeoutMs, signal)
    const { fingerprint256, valid_to } = socket.getPeerCertificate()
    const isAccepted = socket.authorized || (fingerprint ? fingerprint === fingerprint256 : allowsUntrusted)
    if (!isAccepted) {
      socket.destroy()
      throw new DriverFailure('CHANGED', 'The device shows another certificate.')
    }
    const certificate = { fingerprint: fingerprint256, isTrusted: socket.authorized, validUntil: new Date(valid_to) }
    return { socket, certificate }
  },
})

async function opened<S extends Socket>(socket: S, event: string, timeoutMs: number, signal: AbortSignal): Promise<S> {
  try {
    await once(socket, event, { signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) })
    socket.on('error', () => {})
    return socket
  } catch (error) {
    socket.destroy()
    const { code, message } = error as Error & { code?: string }
    const state = code?.startsWith('ERR_SSL') ? 'UNSUPPORTED' : 'UNREACHABLE'
    throw new DriverFailure(state, `No connection: ${code ?? message}.`)
  }
}
