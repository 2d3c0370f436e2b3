// Looks at MQTT frames before the broker does: one that is too long ends the connection, too many at once wait.
import type { Duplex } from 'node:stream'

/** How many messages of one connection are under way at once; the rest waits in the socket. */
const mostInFlight = 8
/** A stranger may only say who he is. */
const largestOfStranger = 4096

export class Gate {
  /** Messages that were handed to the broker and are not answered yet. */
  inFlight = 0
  #largest = largestOfStranger
  #isStranger = true
  #frames = 0
  /** Bytes of the present frame that are still to come. */
  #left = 0
  /** Set while its length is being read. */
  #length: { value: number; bytes: number } | undefined

  /** The broker pulls with `read()`: what it gets there are at most as many frames as it may have. */
  constructor(stream: Duplex, onTooLong: () => void) {
    const pull = stream.read.bind(stream)
    stream.read = (size?: number | null) => {
      // Node itself asks with a size; null means "all there is" and is the broker.
      if (size !== null && size !== undefined) return pull(size)
      // Not even looked at: giving it back would make the stream say that there is something to read.
      if (this.#allowed === 0 && this.#isBetweenFrames) return null
      const chunk = pull() as Buffer | null
      if (chunk === null) return null
      const end = this.#endOfAllowed(chunk)
      if (end === undefined) {
        onTooLong()
        return null
      }
      // Back into the stream, which then does not end before it was read.
      if (end < chunk.length) stream.unshift(chunk.subarray(end))
      return end === 0 ? null : chunk.subarray(0, end)
    }
  }

  /** The device has proved who it is. */
  open(largest: number): void {
    this.#isStranger = false
    this.#largest = largest
  }

  /** How many frames may begin now. */
  get #allowed(): number {
    if (this.#isStranger) return this.#frames === 0 ? 1 : 0
    return Math.max(0, mostInFlight - this.inFlight)
  }

  get #isBetweenFrames(): boolean {
    return this.#left === 0 && this.#length === undefined
  }

  #endOfAllowed(chunk: Buffer): number | undefined {
    let allowed = this.#allowed
    let at = 0
    while (at < chunk.length) {
      if (this.#left > 0) {
        const step = Math.min(this.#left, chunk.length - at)
        at += step
        this.#left -= step
        continue
      }
      if (!this.#length) {
        if (allowed-- === 0) return at
        this.#frames++
        this.#length = { value: 0, bytes: 0 }
        at++
        continue
      }
      const byte = chunk[at++] as number
      this.#length.value += (byte & 0x7f) * 128 ** this.#length.bytes++
      // A fifth byte of length is not MQTT: the broker says so.
      if (byte >= 0x80 && this.#length.bytes < 4) continue
      if (this.#length.value > this.#largest) return undefined
      this.#left = this.#length.value
      this.#length = undefined
    }
    return at
  }
}
