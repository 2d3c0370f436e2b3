// Splits the bytes of an MQTT connection into frames.
import { readFixedHeader } from '../../../../src/server/devices/mqtt/packets/frame-reader.ts'

export interface MqttFrame {
  readonly firstByte: number
  readonly body: Buffer
}

export class FrameSplitter {
  /** The start of a frame that has not arrived completely. */
  #rest = Buffer.alloc(0)

  /** Returns the frames that are complete now. */
  push(bytes: Buffer): MqttFrame[] {
    this.#rest = Buffer.concat([this.#rest, bytes])
    const complete: MqttFrame[] = []
    for (;;) {
      const header = readFixedHeader(this.#rest, 0)
      if (!header) return complete
      const end = header.headerBytes + header.remainingBytes
      if (this.#rest.length < end) return complete
      complete.push({ firstByte: header.firstByte, body: this.#rest.subarray(header.headerBytes, end) })
      this.#rest = this.#rest.subarray(end)
    }
  }
}
