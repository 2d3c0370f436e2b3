// Sends packets to one device, in its version of MQTT and within the limits of its CONNECT.

import { type EndingReason, endings, type ReasonCode, type RefusalReason } from '../packets/reasons.ts'
import { type PacketWriter, type ProtocolVersion, packetWriters } from '../packets/writer.ts'

const maxPacketId = 65_535
/** Config and commands are sent again after a while, so a message that does not fit is not lost. */
const maxWaitingMessages = 100

export interface SendLimits {
  /** Messages without a PUBACK. Infinite in MQTT 3.1.1. */
  readonly receiveMaximum: number
  /** Bytes of one packet. */
  readonly maxBytes: number
}

interface WaitingMessage {
  readonly topic: string
  readonly payload: string
}

export class Outbound {
  readonly #write: (packet: Buffer) => void
  version: ProtocolVersion = 4
  limits: SendLimits = { receiveMaximum: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY }
  /** Packet identifiers, only where their number is limited. */
  readonly #unacknowledged = new Set<number>()
  readonly #waiting: WaitingMessage[] = []
  #lastPacketId = 0

  constructor(write: (packet: Buffer) => void) {
    this.#write = write
  }

  get writer(): PacketWriter {
    return packetWriters[this.version]
  }

  refusal(reason: RefusalReason): Buffer {
    return this.writer.refused(reason, this.limits.maxBytes)
  }

  /** MQTT 5 only. */
  disconnect(reasonCode: ReasonCode, text: string): Buffer {
    return this.writer.disconnect(reasonCode, text, this.limits.maxBytes)
  }

  /** MQTT 5 only. */
  disconnectBecause(reason: EndingReason): Buffer {
    return this.disconnect(endings[reason].reasonCode, endings[reason].text)
  }

  /** Returns false if the device accepts no packet of this size. [MQTT5-3.1.2-24] */
  publish(topic: string, payload: string, qos: 0 | 1): boolean {
    const { receiveMaximum, maxBytes } = this.limits
    if (qos === 1 && this.#unacknowledged.size >= receiveMaximum) {
      if (this.#waiting.length < maxWaitingMessages) this.#waiting.push({ topic, payload })
      return true
    }
    // A packet identifier is never 0. [MQTT-2.3.1-1]
    this.#lastPacketId = (this.#lastPacketId % maxPacketId) + 1
    const packet = this.writer.publish(topic, payload, qos, this.#lastPacketId)
    if (packet.length > maxBytes) return false
    if (qos === 1 && receiveMaximum < maxPacketId) this.#unacknowledged.add(this.#lastPacketId)
    this.#write(packet)
    return true
  }

  acknowledged(packetId: number): void {
    if (!this.#unacknowledged.delete(packetId)) return
    // A message that is too large for the device is dropped, and the one after it gets its place.
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      if (this.publish(next.topic, next.payload, 1)) return
    }
  }
}
