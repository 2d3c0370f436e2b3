// Who may connect: the answer to CONNECT, slow for those who guess and "later" for those who hurry.
import { setTimeout as sleep } from 'node:timers/promises'
import { keepAlive as keepAlives } from '../../contract/device.ts'
import { Buckets } from '../../platform/auth/bucket.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { isUuid } from '../../platform/uuid.ts'
import type { Device, DeviceHandlers } from '../handlers.ts'
import type { Connection } from './connection.ts'
import type { Pressure } from './ingest-budget.ts'
import type { LinkMetrics } from './metrics.ts'
import type { Connect } from './packets.ts'

/** Answers to CONNECT. A device forgets itself on the last one alone. */
export const refusals = { unknown: 1, unacceptable: 2, later: 3, dead: 5 } as const

export class Refused extends Error {
  readonly returnCode: number

  constructor(reason: keyof typeof refusals) {
    super('connection refused')
    this.returnCode = refusals[reason]
  }
}

/** Whatever else went wrong here is not the device's fault: it may try again. */
export const refusalOf = (error: unknown): number => (error instanceof Refused ? error.returnCode : refusals.later)

interface AdmissionOptions {
  readonly handlers: Pick<DeviceHandlers, 'identify'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: LinkMetrics
  readonly pressure: Pressure
}

export class Admission {
  readonly #options: AdmissionOptions
  /** Of each device that proved itself. */
  readonly #attempts = new Buckets({ rate: 0.5, burst: 10 })
  /** Of each address. */
  readonly #failures = new Buckets({ rate: 1, burst: 20 })
  readonly #mentions = new Buckets({ rate: 1 / 60, burst: 1 })

  constructor(options: AdmissionOptions) {
    this.#options = options
  }

  async identify(connection: Connection, { keepAlive, username, password }: Connect): Promise<Device> {
    const { handlers, clock, metrics, pressure } = this.#options
    if (keepAlive < keepAlives.min || keepAlive > keepAlives.max) throw new Refused('unacceptable')
    if (pressure.isCrowded) {
      metrics.refused.inc({ reason: 'busy' })
      throw new Refused('later')
    }
    const device =
      username === undefined || password === undefined ? undefined : await handlers.identify(username, password)
    if (!device) throw await this.dead(connection, username)
    const now = clock.now()
    if (this.#attempts.of(device.id, now).take(now)) return device
    metrics.refused.inc({ reason: 'too often' })
    throw new Refused('later')
  }

  /** Slow for an address that fails a lot; nobody else notices. */
  async dead({ address }: Connection, username: string | undefined): Promise<Refused> {
    const { clock, log, metrics } = this.#options
    metrics.refused.inc({ reason: 'credential' })
    const now = clock.now()
    if (this.#mentions.of(address, now).take(now)) {
      // Whatever else stands there may be a secret in the wrong place.
      const endpoint = isUuid(username ?? '') ? username : undefined
      log.warn({ address, endpoint }, 'device refused: its credential is dead')
    }
    if (!this.#failures.of(address, now).take(now)) await sleep(1000)
    return new Refused('dead')
  }
}
