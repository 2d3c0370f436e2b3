// The MQTT broker without its middle: devices talk to the service, never to each other, so nothing is fanned out or kept.
import { Aedes, type AedesOptions } from 'aedes'

type Done = ((error?: Error) => void) | undefined

export class Broker extends Aedes {
  constructor(options: AedesOptions) {
    super({
      ...options,
      maxClientsIdLength: 64,
      connectTimeout: 10_000,
      drainTimeout: 20_000,
    })
  }

  /** What devices publish does not come here; what the broker says of itself is of no interest. */
  override publish(...args: unknown[]): void {
    const done = args.findLast((argument) => typeof argument === 'function') as Done
    done?.()
  }

  /** Devices are written to directly: a table of subscriptions would be memory for nothing. */
  override subscribe(_topic: string, _deliver: unknown, done: Done): void {
    done?.()
  }

  override unsubscribe(_topic: string, _deliver: unknown, done: Done): void {
    done?.()
  }
}
