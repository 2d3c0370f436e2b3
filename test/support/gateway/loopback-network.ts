// The network of a gateway for tests of drivers: it reaches 127.0.0.1 and nothing else.
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type DeviceNetwork, DriverFailure } from '../../../src/gateway/driver.ts'

const address = '127.0.0.1'

export const loopbackNetwork: DeviceNetwork = {
  resolve: async () => address,
  connect: (options) => opened(connectTcp({ host: address, port: options.port }), 'connect', options),
  async connectTls(options) {
    const socket = connectTls({ host: address, port: options.port, rejectUnauthorized: false })
    await opened(socket, 'secureConnect', options)
    const { fingerprint256, valid_to } = socket.getPeerCertificate()
    if (options.fingerprint !== undefined && options.fingerprint !== fingerprint256) {
      socket.destroy()
      throw new DriverFailure('CHANGED', 'The device shows another certificate.')
    }
    const certificate = { fingerprint: fingerprint256, isTrusted: socket.authorized, validUntil: new Date(valid_to) }
    return { socket, certificate }
  },
}

function opened<S extends Socket>(
  socket: S,
  event: string,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
) {
  return new Promise<S>((resolve, reject) => {
    const fail = (reason: string, cause?: Error) => {
      socket.destroy()
      reject(new DriverFailure('UNREACHABLE', reason, { cause }))
    }
    const timer = setTimeout(() => fail('No answer.'), timeoutMs)
    signal.addEventListener('abort', () => fail('Stopped.'), { once: true })
    socket.once('error', (error) => fail('No connection.', error))
    socket.once(event, () => {
      clearTimeout(timer)
      socket.removeAllListeners('error')
      resolve(socket)
    })
    socket.once('close', () => clearTimeout(timer))
  })
}
