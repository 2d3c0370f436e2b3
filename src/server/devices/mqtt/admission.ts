// Decides which devices may connect. Delays answers to addresses that guess credentials, and refuses devices that connect too often.
import { setTimeout as sleep } from 'node:timers/promises'
import { keepAliveSeconds as keepAliveSecondsRange } from '../../../contract/device/protocol.ts'
import { TokenBuckets } from '../../auth/token-bucket.ts'
import type { Clock } from '../../core/clock.ts'
import type { Device, DeviceHandlers, UnenrolledDevice } from './handlers.ts'
import type { BadMessageLimit } from './limits/bad-message-limit.ts'
import type { IngestBudget } from './limits/ingest-budget.ts'
import type { RefusalLog } from './limits/refusal-log.ts'
import type { DeviceMetrics } from './metrics.ts'
import type { ConnectRequest } from './packets/reader.ts'
import type { RefusalReason } from './packets/reasons.ts'

export class Refused extends Error {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason) {
    super('connection refused')
    this.reason = reason
  }
}

/** The device has to be told that its endpoint was unenrolled. */
export class Unenrolled extends Error {
  readonly device: UnenrolledDevice

  constructor(device: UnenrolledDevice) {
    super('endpoint unenrolled')
    this.device = device
  }
}

interface AdmissionOptions {
  readonly handlers: Pick<DeviceHandlers, 'identify' | 'findUnenrolled' | 'attempted'>
  readonly clock: Clock
  readonly refusals: RefusalLog
  readonly metrics: DeviceMetrics
  readonly budget: IngestBudget
  readonly badMessages: BadMessageLimit
}

/** Connections of one device: ten in a row, then one every two seconds. */
const connectionLimit = { rate: 0.5, burst: 10 }
/** Dead credentials from one address: twenty in a row, then one a second; beyond that the answer is delayed. */
const wrongCredentialLimit = { rate: 1, burst: 20 }
const deadCredentialDelayMs = 1000

export class Admission {
  readonly #options: AdmissionOptions
  readonly #connections = new TokenBuckets(connectionLimit)
  readonly #wrongCredentials = new TokenBuckets(wrongCredentialLimit)

  constructor(options: AdmissionOptions) {
    this.#options = options
  }

  async identify(address: string, { keepAliveSeconds, username, password }: ConnectRequest): Promise<Device> {
    const { refusals, metrics, budget, badMessages } = this.#options
    const { min, max } = keepAliveSecondsRange
    if (keepAliveSeconds < min || keepAliveSeconds > max) {
      refusals.record('keep-alive', { address, username, findDevice: () => this.#findDevice(username, password) })
      throw new Refused('unacceptable keep-alive')
    }
    if (budget.isOverloaded) {
      metrics.refused.inc({ reason: 'busy' })
      throw new Refused('busy')
    }
    const device = await this.#findDevice(username, password)
    if (!device) {
      await this.#checkUnenrolled(address, username, password)
      throw await this.refuseCredential(address, username)
    }
    if (badMessages.isShutOut(device.id)) {
      refusals.record('bad messages', { address, device })
      throw new Refused('bad messages')
    }
    this.#checkRate(address, device)
    return device
  }

  async #findDevice(username: string | undefined, password: string | undefined): Promise<Device | undefined> {
    return username === undefined || password === undefined
      ? undefined
      : this.#options.handlers.identify(username, password)
  }

  async #checkUnenrolled(address: string, username: string | undefined, password: string | undefined): Promise<void> {
    const { handlers, refusals } = this.#options
    const device =
      username === undefined || password === undefined ? undefined : await handlers.findUnenrolled(username, password)
    if (!device) return
    this.#checkRate(address, device)
    refusals.record('unenrolled', { address, device })
    throw new Unenrolled(device)
  }

  #checkRate(address: string, device: UnenrolledDevice): void {
    const now = this.#options.clock.now()
    if (this.#connections.of(device.id, now).take(now)) return
    this.#options.refusals.record('too often', { address, device })
    throw new Refused('too often')
  }

  /** Delays only the address that fails often. */
  async refuseCredential(address: string, username: string | undefined): Promise<Refused> {
    const { clock, refusals, handlers } = this.#options
    refusals.record('credential', { address, username })
    handlers.attempted('refused', username, address)
    const now = clock.now()
    if (!this.#wrongCredentials.of(address, now).take(now)) await sleep(deadCredentialDelayMs)
    return new Refused('unknown credential')
  }
}
