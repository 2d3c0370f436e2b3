// Writes to the database that connections of devices have ended, and tries again until it is written.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ConnectionEnd } from '../../../contract/fleet/connections.ts'
import type { DeviceConnection, DeviceHandlers } from './handlers.ts'
import type { LogThrottle } from './limits/log-throttle.ts'

const retryAfterMs = 5_000

interface DisconnectWriterOptions {
  readonly handlers: Pick<DeviceHandlers, 'disconnected'>
  readonly logThrottle: LogThrottle
  /** Whether the device is connected to this node again. */
  readonly isConnected: (endpointId: string) => boolean
}

export class DisconnectWriter {
  readonly #options: DisconnectWriterOptions
  readonly #writing = new Set<Promise<void>>()
  #isClosed = false

  constructor(options: DisconnectWriterOptions) {
    this.#options = options
  }

  write(connection: DeviceConnection, why: ConnectionEnd): void {
    const writing: Promise<void> = this.#tryAgain(connection, why).finally(() => this.#writing.delete(writing))
    this.#writing.add(writing)
  }

  /** Tries nothing again from now on, and waits for what is being written. The end of the node's row disconnects the rest. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#writing)
  }

  /** Ends when it is written, when the device is connected again, or when the service stops. */
  async #tryAgain(connection: DeviceConnection, why: ConnectionEnd): Promise<void> {
    const { handlers, logThrottle, isConnected } = this.#options
    while (!this.#isClosed && !isConnected(connection.device.id)) {
      try {
        return await handlers.disconnected(connection, why)
      } catch (error) {
        logThrottle.warn('disconnect not persisted, retrying', error as Error, connection.device)
        if (!this.#isClosed) await sleep(retryAfterMs)
      }
    }
  }
}
