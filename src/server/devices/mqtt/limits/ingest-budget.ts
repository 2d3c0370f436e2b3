// The ingest budget: how many bytes of messages may be unfinished at the same time over all connections. Those beyond it queue up.
import type { DeviceMetrics } from '../metrics.ts'

/** Bytes received and not finished yet: devices that all come back at the same moment must not fill the memory. */
const maxBytesInFlight = 16 * 1024 * 1024
/** Roughly what a message takes beside its own bytes, so that many small ones count too. */
const perMessageOverheadBytes = 1024
/** The length of the queue at which new connections are told to come back later. */
const maxQueueLength = 1000
/** Granted in one turn of the event loop, so that everything else gets its turn as well. */
const maxBytesPerTurn = 512 * 1024

/** A connection that asks for its share of the budget. */
export interface BudgetApplicant {
  /** The bytes that it queued for are reserved now. */
  granted(): void
}

export class IngestBudget {
  #bytesInFlight = 0
  /** Connections in the order in which they came, with the bytes that each needs. */
  readonly #queue = new Map<BudgetApplicant, number>()
  #isGranting = false

  register(metrics: Pick<DeviceMetrics, 'watch'>): void {
    metrics.watch('devices_waiting', 'Devices that wait for the ingest budget.', () => this.queueLength)
    metrics.watch('device_bytes_under_way', 'Bytes of messages that are not finished.', () => this.bytesInFlight)
  }

  get bytesInFlight(): number {
    return this.#bytesInFlight
  }

  get queueLength(): number {
    return this.#queue.size
  }

  get isOverloaded(): boolean {
    return this.#queue.size >= maxQueueLength
  }

  /** False if the budget is used up, or if others queue for it. */
  reserve(bytes: number): boolean {
    if (this.#bytesInFlight >= maxBytesInFlight || this.#queue.size > 0) return false
    this.add(bytes)
    return true
  }

  /** False if the applicant was put at the end of the queue. */
  reserveOrQueue(bytes: number, applicant: BudgetApplicant): boolean {
    if (this.reserve(bytes)) return true
    this.#queue.set(applicant, bytes)
    return false
  }

  /** Counts bytes that are in memory already, whether the budget allows them or not. */
  add(bytes: number): void {
    this.#bytesInFlight += bytes + perMessageOverheadBytes
  }

  release(bytes: number): void {
    this.#bytesInFlight -= bytes + perMessageOverheadBytes
    this.#scheduleGrants()
  }

  leaveQueue(applicant: BudgetApplicant): void {
    this.#queue.delete(applicant)
    this.#scheduleGrants()
  }

  #scheduleGrants(): void {
    if (this.#queue.size === 0 || this.#isGranting || this.#bytesInFlight >= maxBytesInFlight) return
    this.#isGranting = true
    setImmediate(() => {
      this.#isGranting = false
      let grantedBytes = 0
      for (const [applicant, bytes] of this.#queue) {
        if (this.#bytesInFlight >= maxBytesInFlight || grantedBytes >= maxBytesPerTurn) break
        this.#queue.delete(applicant)
        this.add(bytes)
        grantedBytes += bytes
        applicant.granted()
      }
      this.#scheduleGrants()
    })
  }
}
