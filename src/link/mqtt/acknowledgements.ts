// Says what was received, in the order in which it came, and what is due at the same moment in one write. [MQTT-4.6.0-2]
import type { Duplex } from 'node:stream'

/** By QoS: nothing, PUBACK, PUBREC. */
const answers = [0, 0x40, 0x50]
const pubcomp = 0x70

/** A message of the device that wants an answer when it is dealt with. */
export interface Question {
  readonly answer: number
  readonly id: number
  isDealtWith: boolean
}

export class Answers {
  readonly #stream: Duplex
  readonly #gate: { answered(count: number): void }
  readonly #questions: Question[] = []
  /** First byte and id of those that are due. */
  #due: number[] = []
  #count = 0

  constructor(stream: Duplex, gate: { answered(count: number): void }) {
    this.#stream = stream
    this.#gate = gate
  }

  ask(qos: number, id: number): Question {
    const question: Question = { answer: answers[qos] ?? 0, id, isDealtWith: false }
    // Nobody waits for the answer to a question that has none.
    if (qos > 0) this.#questions.push(question)
    return question
  }

  dealtWith(question: Question): void {
    question.isDealtWith = true
    if (question.answer === 0) return void this.#answer(0, 1)
    while (this.#questions[0]?.isDealtWith) {
      const { answer, id } = this.#questions.shift() as Question
      this.#answer((answer << 16) | id, 1)
    }
  }

  /** The third word of QoS 2: whatever it was about was dealt with when its first came. */
  complete(id: number): void {
    this.#answer((pubcomp << 16) | id, 0)
  }

  #answer(due: number, count: number): void {
    if (this.#due.push(due) === 1) process.nextTick(this.#say)
    this.#count += count
  }

  readonly #say = (): void => {
    const due = this.#due
    const count = this.#count
    this.#due = []
    this.#count = 0
    const bytes = Buffer.allocUnsafe(due.length * 4)
    let end = 0
    for (const one of due) {
      if (one === 0) continue
      bytes[end++] = one >> 16
      bytes[end++] = 2
      bytes[end++] = (one >> 8) & 255
      bytes[end++] = one & 255
    }
    if (end > 0 && this.#stream.writable) this.#stream.write(end === bytes.length ? bytes : bytes.subarray(0, end))
    if (count > 0) this.#gate.answered(count)
  }
}
