// The states of the items as the server has to know them: what it has not acknowledged is sent again.
import { type DevicesReport, type ListedGatewayDevice, maxDeviceStatesPerMessage } from '../contract/device/protocol.ts'

export type ItemReport = DevicesReport['devices'][number]

/** Changes within this time go up in one message. */
const collectMs = 200

export class StateReports {
  readonly #send: (report: DevicesReport) => Promise<void>
  readonly #latest = new Map<string, ItemReport>()
  readonly #unsent = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #isSending = false
  #isOpen = false

  constructor(send: (report: DevicesReport) => Promise<void>) {
    this.#send = send
  }

  report(report: ItemReport): void {
    if (isSame(this.#latest.get(report.id), report)) return
    this.#latest.set(report.id, report)
    this.#unsent.add(report.id)
    this.#schedule()
  }

  forget(id: string): void {
    this.#latest.delete(id)
    this.#unsent.delete(id)
  }

  /** The server has another state than this gateway: it restored a backup, or its row was made anew. */
  compare({ id, revision, state }: ListedGatewayDevice): void {
    const known = this.#latest.get(id)
    if (!known || known.revision !== revision || known.state === state) return
    this.#unsent.add(id)
    this.#schedule()
  }

  /** Called when the gateway is connected. */
  open(): void {
    this.#isOpen = true
    this.#schedule()
  }

  close(): void {
    this.#isOpen = false
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #schedule(): void {
    if (!this.#isOpen || this.#isSending || this.#timer || this.#unsent.size === 0) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      void this.#sendNext()
    }, collectMs)
  }

  async #sendNext(): Promise<void> {
    const ids = [...this.#unsent].slice(0, maxDeviceStatesPerMessage)
    const devices = ids.flatMap((id) => this.#latest.get(id) ?? [])
    // The items were removed before their states went up.
    if (devices.length === 0) return
    this.#isSending = true
    const isAcknowledged = await this.#send({ devices }).then(
      () => true,
      () => false,
    )
    this.#isSending = false
    // A state that changed while its message was on the way has another object, and goes up again.
    if (isAcknowledged)
      for (const report of devices) if (this.#latest.get(report.id) === report) this.#unsent.delete(report.id)
    // Without an acknowledgement the connection has ended, and the next one calls `open`.
    if (isAcknowledged) this.#schedule()
  }
}

const isSame = (a: ItemReport | undefined, b: ItemReport) =>
  a !== undefined && a.revision === b.revision && a.state === b.state && a.reason === b.reason
