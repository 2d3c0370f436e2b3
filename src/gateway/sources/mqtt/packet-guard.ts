// Stands between a broker's bytes and the MQTT client: leaves out messages that are too large, and slows down a flood.
import { Transform, type TransformCallback } from 'node:stream'

const publishType = 3
/** Answers of a broker to subscriptions are small. */
const maxOtherPacketBytes = 64 * 1024

export class PacketGuard extends Transform {
  readonly #maxPacketBytes: number
  readonly #maxMessagesPerSecond: number
  /** The first bytes of a packet, until its length is known. */
  #header: number[] = []
  #restBytes = 0
  #isSkipped = false
  #secondStartedMs = 0
  #messagesInSecond = 0
  #timer: NodeJS.Timeout | undefined
  skippedCount = 0
  largestSkippedBytes = 0

  constructor({ maxPacketBytes, maxMessagesPerSecond }: { maxPacketBytes: number; maxMessagesPerSecond: number }) {
    super()
    this.#maxPacketBytes = maxPacketBytes
    this.#maxMessagesPerSecond = maxMessagesPerSecond
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#restBytes > 0) {
        const end = Math.min(chunk.length, at + this.#restBytes)
        if (!this.#isSkipped) this.push(chunk.subarray(at, end))
        this.#restBytes -= end - at
        at = end
        continue
      }
      this.#header.push(chunk[at++] as number)
      const bytes = this.#bodyBytes()
      if (bytes === 'incomplete') continue
      const isPublish = (this.#header[0] as number) >> 4 === publishType
      if (bytes === 'malformed' || (!isPublish && bytes > maxOtherPacketBytes)) {
        callback(new Error('The broker does not speak MQTT.'))
        return
      }
      this.#isSkipped = isPublish && bytes > this.#maxPacketBytes
      if (this.#isSkipped) {
        this.skippedCount++
        this.largestSkippedBytes = Math.max(this.largestSkippedBytes, bytes)
      } else this.push(Buffer.from(this.#header))
      if (isPublish) this.#messagesInSecond++
      this.#header = []
      this.#restBytes = bytes
    }
    this.#afterPause(callback)
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearTimeout(this.#timer)
    callback(error)
  }

  /** The length is written in groups of 7 bits; the highest bit says that another group follows. */
  #bodyBytes(): number | 'incomplete' | 'malformed' {
    const groups = this.#header.slice(1)
    const last = groups.at(-1)
    if (last === undefined) return 'incomplete'
    if (last >= 0x80) return groups.length < 4 ? 'incomplete' : 'malformed'
    return groups.reduceRight((sum, group) => sum * 0x80 + (group & 0x7f), 0)
  }

  /** Beyond the limit nothing more is read in this second: TCP makes the broker wait. */
  #afterPause(callback: TransformCallback): void {
    const passedMs = performance.now() - this.#secondStartedMs
    if (passedMs >= 1000) {
      this.#secondStartedMs = performance.now()
      this.#messagesInSecond = 0
    } else if (this.#messagesInSecond >= this.#maxMessagesPerSecond) {
      this.#timer = setTimeout(callback, 1000 - passedMs)
      return
    }
    callback()
  }
}
