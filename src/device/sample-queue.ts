// Samples that the service has not stored yet: kept while the device is offline, sent in order, one message at a time.
import { type DeviceSample, maxPacketBytes, maxSamplesPerMessage } from '../contract/device/protocol.ts'

/** The samples of one call, with its promise. */
interface Batch {
  readonly samples: readonly DeviceSample[]
  readonly bytes: number
  resolve(): void
  reject(error: Error): void
}

/** Leaves room for the topic and the header of the packet. */
const maxMessageBytes = maxPacketBytes - 1024

export class SampleQueue {
  readonly #maxSamples: number
  readonly #onDropped: (count: number) => void
  /** The oldest first, without the message in flight. */
  readonly #waiting: Batch[] = []
  #inFlight: readonly Batch[] = []
  #isRefused = false
  /** The next batches are sent alone: the service refused them in one message, and perhaps only one of them is wrong. */
  #singles = 0
  #length = 0
  #dropped = 0

  constructor(maxSamples: number, onDropped: (count: number) => void) {
    this.#maxSamples = maxSamples
    this.#onDropped = onDropped
  }

  /** How many samples wait, including the message in flight. */
  get length(): number {
    return this.#length
  }

  /** How many samples were dropped because the queue was full. */
  get dropped(): number {
    return this.#dropped
  }

  add(samples: readonly DeviceSample[]): Promise<void> {
    const bytes = Buffer.byteLength(JSON.stringify(samples))
    if (samples.length > maxSamplesPerMessage || bytes > maxMessageBytes) {
      // Sent nevertheless, a message that is too large would end every connection.
      const limit = `${maxSamplesPerMessage} samples and ${maxMessageBytes} bytes`
      return Promise.reject(new RangeError(`A message has at most ${limit}. Send the samples in several calls.`))
    }
    const stored = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ samples, bytes, resolve, reject })
    })
    this.#length += samples.length
    this.#dropOldest()
    return stored
  }

  /** Sends until the queue is empty or `publish` rejects; it resolves when the service has acknowledged the message. */
  async send(publish: (samples: DeviceSample[]) => Promise<void>): Promise<void> {
    while (this.#inFlight.length === 0 && this.#waiting.length > 0) {
      const batches = this.#takeMessage()
      this.#inFlight = batches
      this.#isRefused = false
      const isAcknowledged = await publish(batches.flatMap(({ samples }) => samples)).then(
        () => true,
        () => false,
      )
      // The queue was emptied in the meantime.
      if (this.#inFlight !== batches) return
      this.#inFlight = []
      const isStored = isAcknowledged && !(this.#isRefused && batches.length > 1)
      if (isStored) this.#settle(batches, (batch) => batch.resolve())
      else this.#waiting.unshift(...batches)
      if (!isAcknowledged) return this.#dropOldest()
      if (!isStored) this.#singles = batches.length
    }
  }

  /** The service has refused the message in flight as a whole. */
  markRefused(): void {
    this.#isRefused = true
  }

  rejectAll(error: Error): void {
    const batches = [...this.#inFlight, ...this.#waiting.splice(0)]
    this.#inFlight = []
    this.#settle(batches, (batch) => batch.reject(error))
  }

  /** Takes as many batches as one message can have. */
  #takeMessage(): readonly Batch[] {
    let [count, bytes, end] = [0, 0, 0]
    for (const batch of this.#waiting) {
      count += batch.samples.length
      bytes += batch.bytes
      if (end > 0 && (this.#singles > 0 || count > maxSamplesPerMessage || bytes > maxMessageBytes)) break
      end++
    }
    this.#singles = Math.max(0, this.#singles - 1)
    return this.#waiting.splice(0, end)
  }

  #dropOldest(): void {
    const before = this.#length
    while (this.#length > this.#maxSamples && this.#waiting.length > 1) {
      this.#settle(this.#waiting.splice(0, 1), (batch) =>
        batch.reject(new Error('The samples were dropped: the queue is full, and newer ones came.')),
      )
    }
    const dropped = before - this.#length
    this.#dropped += dropped
    if (dropped > 0) this.#onDropped(dropped)
  }

  #settle(batches: readonly Batch[], settle: (batch: Batch) => void): void {
    for (const batch of batches) {
      this.#length -= batch.samples.length
      settle(batch)
    }
  }
}
