// Acknowledges messages in the order in which they came [MQTT-4.6.0-2], those of one moment in one write.
import type { Duplex } from 'node:stream'
import { type Acknowledgement, acknowledgement } from './packet-writer.ts'

/** A message of the device that is not finished yet. */
export interface Unfinished {
  /** Undefined for QoS 0, which has no acknowledgement. */
  readonly answer: Acknowledgement | undefined
  readonly messageId: number
  isFinished: boolean
}

const byQos = [undefined, 'puback', 'pubrec'] as const

export class Acknowledgements {
  readonly #socket: Duplex
  readonly #onAnswered: (messages: number) => void
  /** Messages with QoS 1 and 2 in their order. */
  readonly #unfinished: Unfinished[] = []
  /** Packets and finished messages of this turn of the event loop. */
  #packets: Buffer[] = []
  #finishedMessages = 0
  #isScheduled = false

  /** `onAnswered` is called with the number of finished messages, after their acknowledgements were written. */
  constructor(socket: Duplex, onAnswered: (messages: number) => void) {
    this.#socket = socket
    this.#onAnswered = onAnswered
  }

  begin(qos: 0 | 1 | 2, messageId: number): Unfinished {
    const message: Unfinished = { answer: byQos[qos], messageId, isFinished: false }
    if (qos > 0) this.#unfinished.push(message)
    return message
  }

  finish(message: Unfinished): void {
    message.isFinished = true
    if (!message.answer) this.#answer(undefined, 0, 1)
    while (this.#unfinished[0]?.isFinished) {
      const { answer, messageId } = this.#unfinished.shift() as Unfinished
      this.#answer(answer, messageId, 1)
    }
  }

  /** Answers PUBREL, the third packet of QoS 2: the message itself was finished before its PUBREC. */
  release(messageId: number): void {
    this.#answer('pubcomp', messageId, 0)
  }

  #answer(cmd: Acknowledgement | undefined, messageId: number, messages: number): void {
    if (cmd) this.#packets.push(acknowledgement(cmd, messageId))
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
