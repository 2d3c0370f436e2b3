// Decides when the next packet of a connected device is read: back-pressure for one connection, and its share of the ingest budget.
import type { Duplex } from 'node:stream'
import { type FixedHeader, isPublish, isQos0 } from '../packets/frame-reader.ts'
import type { BudgetApplicant, IngestBudget } from './ingest-budget.ts'

/** MQTT 5 announces it as the receive maximum. */
export const maxUnansweredMessages = 8
/** A message that takes longer to arrive gives its share of the budget back: slow senders must not keep others out. */
const reservationSeconds = 1

export class BackPressure implements BudgetApplicant {
  readonly #socket: Duplex
  readonly #budget: IngestBudget
  readonly #proceed: () => void
  /** One message is read between two ticks. The others wait in the socket. */
  isSlowed = false
  #hasReadSinceTick = false
  #unansweredMessages = 0
  /** The share of the budget for one message that has not arrived as a whole. */
  #reservation: 'none' | 'queued' | 'held' = 'none'
  #reservedBytes = 0
  #heldSeconds = 0

  /** `proceed` is called when a packet that had to wait may be asked about again. */
  constructor(socket: Duplex, budget: IngestBudget, proceed: () => void) {
    this.#socket = socket
    this.#budget = budget
    this.#proceed = proceed
  }

  admit(header: FixedHeader): 'read' | 'skip' | 'wait' {
    // The budget was granted while the packet waited for it.
    if (this.#reservation === 'held') return 'read'
    // A device that does not read its answers is not read either.
    if (this.#reservation === 'queued' || this.#socket.writableNeedDrain) return 'wait'
    if (!isPublish(header)) return 'read'
    if (this.#unansweredMessages >= maxUnansweredMessages || (this.isSlowed && this.#hasReadSinceTick)) return 'wait'
    const { remainingBytes } = header
    if (isQos0(header)) {
      if (!this.#budget.reserve(remainingBytes)) return 'skip'
      this.#hold(remainingBytes)
      return 'read'
    }
    if (this.#budget.reserveOrQueue(remainingBytes, this)) {
      this.#hold(remainingBytes)
      return 'read'
    }
    this.#reservation = 'queued'
    this.#reservedBytes = remainingBytes
    return 'wait'
  }

  /** The budget reached this connection in its queue. */
  granted(): void {
    this.#hold(this.#reservedBytes)
    this.#proceed()
  }

  /** A whole message has arrived. Its share of the budget now belongs to its handler, which releases it. */
  messageArrived(bytes: number): void {
    this.#unansweredMessages++
    this.#hasReadSinceTick = true
    // The share was given back because the message was slow, but its bytes are here all the same.
    if (this.#reservation !== 'held') this.#budget.add(bytes)
    this.#reservation = 'none'
  }

  answered(messages: number): void {
    this.#unansweredMessages -= messages
    this.#proceed()
  }

  /** Called once a second. */
  tick(): void {
    if (this.#reservation === 'held' && ++this.#heldSeconds > reservationSeconds) this.#giveBack()
    this.#hasReadSinceTick = false
    this.#proceed()
  }

  /** The connection is gone. */
  close(): void {
    this.#budget.leaveQueue(this)
    this.#giveBack()
  }

  #hold(bytes: number): void {
    this.#reservation = 'held'
    this.#reservedBytes = bytes
    this.#heldSeconds = 0
  }

  #giveBack(): void {
    if (this.#reservation === 'held') this.#budget.release(this.#reservedBytes)
    this.#reservation = 'none'
  }
}
