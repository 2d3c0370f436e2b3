// A network for drivers that reaches loopback only, and whose packets a test can drop.
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type DeviceNetwork, DriverFailure } from '../../../src/gateway/driver.ts'

const noAnswer = () => new DriverFailure('UNREACHABLE', 'The device does not answer.')

export class DroppingNetwork implements DeviceNetwork {
  readonly #sockets = new Set<Socket>()
  #dropsPackets = false
  connects = 0
  /** The largest number of connections that the driver had at the same time. */
  mostOpen = 0

  get dropsPackets(): boolean {
    return this.#dropsPackets
  }

  /** From now on nothing comes through, and no connection is closed. */
  set dropsPackets(drops: boolean) {
    this.#dropsPackets = drops
    for (const socket of this.#sockets) if (drops) socket.pause()
  }

  async resolve(host: string): Promise<string> {
    return host
  }

  async connect({ host, port, timeoutMs, signal }: Parameters<DeviceNetwork['connect']>[0]): Promise<Socket> {
    this.connects++
    if (this.#dropsPackets) {
      await pause(timeoutMs, undefined, { signal })
      throw noAnswer()
    }
    const socket = connect({ host, port })
    this.#sockets.add(socket)
    this.mostOpen = Math.max(this.mostOpen, [...this.#sockets].filter(({ destroyed }) => !destroyed).length)
    socket.once('close', () => this.#sockets.delete(socket))
    const abort = () => void socket.destroy()
    signal.addEventListener('abort', abort)
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('connect', resolve)
        socket.once('close', () => reject(noAnswer()))
        socket.once('error', () =>
          reject(new DriverFailure('UNREACHABLE', `Nothing listens at port ${port} of the device.`)),
        )
      })
    } finally {
      signal.removeEventListener('abort', abort)
    }
    return socket
  }

  connectTls(): never {
    throw new Error('PJLink has no TLS.')
  }
}
