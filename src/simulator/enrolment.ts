// Enrols simulated devices as hardware would: with the code of their room, through the real protocol.
import { setTimeout as pause } from 'node:timers/promises'
import { backOffMs } from '../client/back-off.ts'
import type { Client } from '../client/client.ts'
import type { EnrolAnswer } from '../contract/device.ts'
import { deviceBackOff } from '../device/agent.ts'
import { EnrolmentRefusedError, enrolDevice } from '../device/enrol.ts'
import { FleetError } from './failure.ts'
import type { PlannedDevice } from './plan.ts'

const tries = 5

export class Enrolment {
  readonly #client: Client
  readonly #url: string
  readonly #signal: AbortSignal
  /** Asked for once for each room. */
  readonly #codes = new Map<number, Promise<string>>()

  constructor(client: Client, url: string, signal: AbortSignal) {
    this.#client = client
    this.#url = url
    this.#signal = signal
  }

  async enrol({ serial, model, pairingSerial }: PlannedDevice, roomId: number): Promise<EnrolAnswer> {
    for (let failures = 0; ; failures++) {
      try {
        const code = await this.#codeOf(roomId)
        return await enrolDevice(this.#url, {
          code,
          serial,
          model,
          ...(pairingSerial !== undefined && { pairingSerial }),
        })
      } catch (error) {
        // Whether it was the code, the line or a device that is just leaving: all of them may be better in a while.
        const mayPass = !(error instanceof EnrolmentRefusedError) || error.cause.status !== 400
        if (!mayPass || failures + 1 === tries) throw hopeless(error, serial)
        this.#codes.delete(roomId)
        await pause(backOffMs(failures, deviceBackOff), undefined, { signal: this.#signal })
      }
    }
  }

  #codeOf(id: number): Promise<string> {
    const known = this.#codes.get(id)
    if (known) return known
    const code = this.#client
      .roomsGet({ id }, { signal: this.#signal })
      .then(async ({ body }) => body.dec ?? (await this.#client.roomsRegenerateDec({ id })).body.dec)
    this.#codes.set(id, code)
    return code
  }
}

function hopeless(error: unknown, serial: string): unknown {
  if (!(error instanceof EnrolmentRefusedError)) return error
  if (error.cause.status !== 409) return new FleetError(`Device ${serial} cannot enrol: ${error.message}`)
  return new FleetError(
    `Device ${serial} is connected already. Is another simulator running this fleet? Stop it, or give another --seed.`,
  )
}
