// The states of items, or of sources, as the server has to know them: what it has not acknowledged is sent again.
import { isDeepStrictEqual } from 'node:util'
import type { DevicesReport, SourcesReport } from '../contract/device/protocol.ts'

export type ItemReport = DevicesReport['devices'][number]
export type SourceReport = SourcesReport['sources'][number]

interface StateReport {
  readonly id: string
  readonly revision: number
  readonly state: string
}

/** Changes within this time go up in one message. */
const collectMs = 200

export class StateReports<T extends StateReport> {
  readonly #maxPerMessage: number
  readonly #send: (reports: T[]) => Promise<void>
  readonly #latest = new Map<string, T>()
  readonly #unsent = new Set<string>()
  readonly #waiting: (() => void)[] = []
  #timer: NodeJS.Timeout | undefined
  #isSending = false
  #isOpen = false

  /** `send` resolves when the server has acknowledged the message. */
  constructor(maxPerMessage: number, send: (reports: T[]) => Promise<void>) {
    this.#maxPerMessage = maxPerMessage
    this.#send = send
  }

  report(report: T): void {
    if (isDeepStrictEqual(this.#latest.get(report.id), report)) return
    this.#latest.set(report.id, report)
    this.#unsent.add(report.id)
    this.#schedule()
  }

  forget(id: string): void {
    this.#latest.delete(id)
    this.#unsent.delete(id)
    this.#wake()
  }

  /** The server has another state than this gateway: it restored a backup, or its row was made anew. */
  compare({ id, revision, state }: StateReport): void {
    const known = this.#latest.get(id)
    if (!known || known.revision !== revision || known.state === state) return
    this.#unsent.add(id)
    this.#schedule()
  }

  /** Resolves when the server has acknowledged the latest state, or after the limit. */
  async acknowledged(id: string, limitMs: number): Promise<void> {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      this.#wake()
    }, limitMs)
    while (this.#unsent.has(id) && !isLate) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    clearTimeout(timer)
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
    const ids = [...this.#unsent].slice(0, this.#maxPerMessage)
    const reports = ids.flatMap((id) => this.#latest.get(id) ?? [])
    // They were removed before their states went up.
    if (reports.length === 0) return
    this.#isSending = true
    const isAcknowledged = await this.#send(reports).then(
      () => true,
      () => false,
    )
    this.#isSending = false
    // A state that changed while its message was on the way has another object, and goes up again.
    if (isAcknowledged)
      for (const report of reports) if (this.#latest.get(report.id) === report) this.#unsent.delete(report.id)
    this.#wake()
    // Without an acknowledgement the connection has ended, and the next one calls `open`.
    if (isAcknowledged) this.#schedule()
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}
