// Acknowledges messages in the order in which they came [MQTT-4.6.0-2], those of one moment in one write.
import type { Duplex } from 'node:stream'
import { type ReasonCode, reasonCodes } from '../packets/reasons.ts'
import { type Acknowledgement, packetWriters } from '../packets/writer.ts'

/** A message of the device that is not finished yet. */
export interface UnfinishedMessage {
  /** Undefined for QoS 0, which has no acknowledgement. */
  readonly answer: Acknowledgement | undefined
  readonly messageId: number
  isFinished: boolean
  /** Sent in MQTT 5 only. */
  reasonCode: ReasonCode
}

const byQos = [undefined, 'puback', 'pubrec'] as const

export class Acknowledgements {
  /** The session sets it when the device has said which version it speaks. */
  writer = packetWriters[4]
  readonly #socket: Duplex
  readonly #onAnswered: (messages: number) => void
  /** Messages with QoS 1 and 2 in their order. */
  readonly #unfinished: UnfinishedMessage[] = []
  /** Packets and finished messages of this turn of the event loop. */
  #packets: Buffer[] = []
  #finishedMessages = 0
  #isScheduled = false

  /** `onAnswered` is called with the number of finished messages, after their acknowledgements were written. */
  constructor(socket: Duplex, onAnswered: (messages: number) => void) {
    this.#socket = socket
    this.#onAnswered = onAnswered
  }

  begin(qos: 0 | 1 | 2, messageId: number): UnfinishedMessage {
    const message: UnfinishedMessage = {
      answer: byQos[qos],
      messageId,
      isFinished: false,
      reasonCode: reasonCodes.success,
    }
    if (qos > 0) this.#unfinished.push(message)
    return message
  }

  finish(message: UnfinishedMessage, reasonCode: ReasonCode = reasonCodes.success): void {
    message.isFinished = true
    message.reasonCode = reasonCode
    if (!message.answer) this.#answer(undefined, 0, reasonCode, 1)
    while (this.#unfinished[0]?.isFinished) {
      const first = this.#unfinished.shift() as UnfinishedMessage
      this.#answer(first.answer, first.messageId, first.reasonCode, 1)
    }
  }

  /** Answers PUBREL, the third packet of QoS 2: the message itself was finished before its PUBREC. */
  release(messageId: number): void {
    this.#answer('pubcomp', messageId, reasonCodes.success, 0)
  }

  #answer(cmd: Acknowledgement | undefined, messageId: number, reasonCode: ReasonCode, messages: number): void {
    if (cmd) this.#packets.push(this.writer.acknowledgement(cmd, messageId, reasonCode))
    this.#finishedMessages += messages
    if (!this.#isScheduled) process.nextTick(this.#flush)
    this.#isScheduled = true
  }

  readonly #flush = (): void => {
    const packets = this.#packets
    const messages = this.#finishedMessages
    this.#packets = []
    this.#finishedMessages = 0
    this.#isScheduled = false
    if (packets.length > 0 && this.#socket.writable) {
      this.#socket.write(packets.length === 1 ? (packets[0] as Buffer) : Buffer.concat(packets))
    }
    if (messages > 0) this.#onAnswered(messages)
  }
}
