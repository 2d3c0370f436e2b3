// Enrols simulated devices as hardware does: with the code of their room, over the real protocol.
import { setTimeout as pause } from 'node:timers/promises'
import { backOffMs } from '../client/back-off.ts'
import type { Client } from '../client/client.ts'
import type { EnrolAnswer } from '../contract/device/protocol.ts'
import { EnrolmentRefusedError, requestEnrolment } from '../device/enrol.ts'
import { deviceBackOff } from '../device/reconnect.ts'
import { FleetError } from './fleet-error.ts'
import type { FleetDevice } from './plan.ts'

const maxAttempts = 5

export class FleetEnrolment {
  readonly #client: Client
  readonly #url: string
  readonly #signal: AbortSignal
  /** The code of each room, requested once. */
  readonly #codes = new Map<number, Promise<string>>()

  constructor(client: Client, url: string, signal: AbortSignal) {
    this.#client = client
    this.#url = url
    this.#signal = signal
  }

  async enrol({ serial, model, pairingSerial }: FleetDevice, roomId: number): Promise<EnrolAnswer> {
    for (let failures = 0; ; failures++) {
      try {
        const code = await this.#enrolmentCode(roomId)
        return await requestEnrolment(this.#url, {
          code,
          serial,
          model,
          ...(pairingSerial !== undefined && { pairingSerial }),
        })
      } catch (error) {
        // A used code, a lost connection or a device that is still connected can succeed later.
        const canRetry = !(error instanceof EnrolmentRefusedError) || error.cause.status !== 400
        if (!canRetry || failures + 1 === maxAttempts) throw explainRefusal(error, serial)
        this.#codes.delete(roomId)
        await pause(backOffMs(failures, deviceBackOff), undefined, { signal: this.#signal })
      }
    }
  }

  #enrolmentCode(id: number): Promise<string> {
    const known = this.#codes.get(id)
    if (known) return known
    const code = this.#client
      .roomsGet({ id }, { signal: this.#signal })
      .then(async ({ body }) => body.dec ?? (await this.#client.roomsRegenerateDec({ id })).body.dec)
    this.#codes.set(id, code)
    return code
  }
}

function explainRefusal(error: unknown, serial: string): unknown {
  if (!(error instanceof EnrolmentRefusedError)) return error
  if (error.cause.status !== 409) return new FleetError(`Device ${serial} cannot enrol: ${error.message}`)
  return new FleetError(
    `Device ${serial} is already connected. Stop the other simulator that runs this fleet, or use another --seed.`,
  )
}
