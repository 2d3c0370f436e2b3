// One connection to a projector: the greeting, then one question at a time, with limits on what is read and how long it takes.
import type { Duplex } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'

/** The specification's limit for a line, with its end. */
const maxLineBytes = 136
/** All that is read for one question. Rubbish, zero bytes and late answers can come in addition to the answer. */
const maxBytesPerQuestion = 1_024
/** An answer that equals the previous one can be a copy of it. The right answer then follows within this time. */
const repeatMs = 50

export type PjlinkClass = 1 | 2
/** `value` is the answer to a query, its bytes read as Latin-1, or `OK` for a command. */
export type PjlinkAnswer = { readonly value: string } | { readonly error: 1 | 2 | 3 | 4 }

/**
 * `silent`: no whole answer in time. `closed`: the projector ended the connection. `flood`: more than an answer can have. `foreign`:
 * not PJLink. `refused`: ERRA. `passwordMissing`: the projector asks for a password, and the item has none.
 */
type TroubleKind = 'silent' | 'closed' | 'flood' | 'foreign' | 'refused' | 'passwordMissing'

export class PjlinkTrouble extends Error {
  readonly kind: TroubleKind

  constructor(kind: TroubleKind, reason: string) {
    super(reason)
    this.kind = kind
  }
}

const closed = () =>
  new PjlinkTrouble(
    'closed',
    'The projector ends the connection. It may allow only one at a time: check whether a control system holds it.',
  )

export class PjlinkConnection {
  readonly #stream: Duplex
  readonly #answerTimeoutMs: number
  #partialLine = ''
  #lines: string[] = []
  #bytesOfQuestion = 0
  #trouble: PjlinkTrouble | undefined
  #wake: (() => void) | undefined
  #answered = 0
  #previous: { readonly name: string; readonly parameter: string; readonly answer: PjlinkAnswer } | undefined
  /** The digest of the challenge; goes in front of commands. */
  digest = ''

  constructor(stream: Duplex, answerTimeoutMs: number) {
    this.#stream = stream
    this.#answerTimeoutMs = answerTimeoutMs
    stream.on('data', (chunk: Buffer) => this.#receive(chunk))
    stream.on('error', () => this.#fail(closed()))
    stream.once('end', () => this.#fail(closed()))
    stream.once('close', () => this.#fail(closed()))
  }

  /** How many questions were answered. */
  get answered(): number {
    return this.#answered
  }

  get isOpen(): boolean {
    return this.#trouble === undefined
  }

  close(): void {
    this.#fail(closed())
  }

  /** Returns the random text of the challenge, or undefined if the projector asks for no password. */
  async greeting(): Promise<string | undefined> {
    for await (const line of this.#linesWithin(this.#answerTimeoutMs)) {
      if (/^PJLINK 0$/i.test(line)) return undefined
      const [, random] = /^PJLINK 1 (\S{1,64})$/i.exec(line) ?? []
      if (random !== undefined) return random
      if (isRefusal(line)) throw refused()
      throw new PjlinkTrouble('foreign', 'The device at this address and port does not speak PJLink.')
    }
    throw silent('The projector accepts the connection, but does not greet.')
  }

  /** Asks for the challenge of version 2.10. Returns undefined if the projector answers that it does not know it. */
  async challenge256(timeoutMs: number): Promise<string | undefined> {
    this.#startQuestion()
    this.#stream.write('PJLINK 2\r')
    for await (const line of this.#linesWithin(timeoutMs)) {
      const [, random] = /^PJLINK 2 ([0-9a-f]{32})$/i.exec(line) ?? []
      return random
    }
    return undefined
  }

  /** Returns the answer to this question; `?…` is a query, anything else a command. */
  async ask(
    pjlinkClass: PjlinkClass,
    name: string,
    parameter: string,
    withDigest: boolean,
    timeoutMs = this.#answerTimeoutMs,
  ): Promise<PjlinkAnswer> {
    const isQuery = parameter.startsWith('?')
    this.#startQuestion()
    this.#stream.write(`${withDigest ? this.digest : ''}%${pjlinkClass}${name} ${parameter}\r`)
    for await (const line of this.#linesWithin(timeoutMs)) {
      if (isRefusal(line)) throw refused()
      const first = readAnswer(line, name, isQuery)
      if (first === undefined) continue
      const answer = (await this.#newerAnswer(name, parameter, first)) ?? first
      this.#answered++
      this.#previous = { name, parameter, answer }
      return answer
    }
    throw silent(`The projector does not answer the question ${name} in time.`)
  }

  /** Returns the last of further answers, if there are any: some projectors repeat the previous answer first. */
  async #newerAnswer(name: string, parameter: string, first: PjlinkAnswer): Promise<PjlinkAnswer | undefined> {
    const isQuery = parameter.startsWith('?')
    const previous = this.#previous
    const isRepeated = previous?.name === name && previous.parameter !== parameter
    const waits = isRepeated && this.#lines.length === 0 && isDeepStrictEqual(previous.answer, first)
    if (waits) for await (const line of this.#linesWithin(repeatMs)) return readAnswer(line, name, isQuery)
    return this.#lines.map((line) => readAnswer(line, name, isQuery)).findLast((answer) => answer !== undefined)
  }

  /** Lines that came before a question do not answer it. */
  #startQuestion(): void {
    this.#lines = []
    this.#partialLine = ''
    this.#bytesOfQuestion = 0
  }

  /** Ends when the time is over; throws when the connection is. */
  async *#linesWithin(timeoutMs: number): AsyncGenerator<string, void, undefined> {
    let isOver = false
    const timer = setTimeout(() => {
      isOver = true
      this.#wake?.()
    }, timeoutMs)
    try {
      for (;;) {
        const line = this.#lines.shift()
        if (line !== undefined) yield line
        else if (this.#trouble) throw this.#trouble
        else if (isOver) return
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve
          })
      }
    } finally {
      clearTimeout(timer)
      this.#wake = undefined
    }
  }

  #receive(chunk: Buffer): void {
    if (this.#trouble) return
    this.#bytesOfQuestion += chunk.length
    const isTooMuch = this.#bytesOfQuestion > maxBytesPerQuestion
    const text = this.#partialLine + chunk.toString('latin1', 0, maxBytesPerQuestion).replaceAll('\0', '')
    const lines = text.split(/[\r\n]+/)
    this.#partialLine = lines.pop() ?? ''
    const isTooLong = [...lines, this.#partialLine].some((line) => line.length >= maxLineBytes)
    if (isTooMuch || isTooLong) {
      const limit = isTooMuch ? `${maxBytesPerQuestion} bytes for one answer` : `${maxLineBytes} bytes in a line`
      return void this.#fail(new PjlinkTrouble('flood', `The device sends more than PJLink allows (${limit}).`))
    }
    this.#lines.push(...lines.filter((line) => line !== ''))
    this.#wake?.()
  }

  #fail(trouble: PjlinkTrouble): void {
    this.#trouble ??= trouble
    this.#stream.destroy()
    this.#wake?.()
  }
}

const isRefusal = (line: string) => /^PJLINK ERRA$/i.test(line)
const refused = () => new PjlinkTrouble('refused', 'The projector refuses the password.')
const silent = (reason: string) => new PjlinkTrouble('silent', reason)

/** Undefined if the line does not answer this question. */
function readAnswer(line: string, name: string, isQuery: boolean): PjlinkAnswer | undefined {
  const [, answeredName = '', value = ''] = /^%[12]([A-Z0-9]{4})=(.*)$/i.exec(line) ?? []
  if (answeredName.toUpperCase() !== name) return undefined
  const [, digit] = /^ERR([1-4])$/i.exec(value) ?? []
  if (digit !== undefined) return { error: Number(digit) as 1 | 2 | 3 | 4 }
  // OK belongs to a command that was sent before, and a value to a query.
  if (/^OK$/i.test(value) === isQuery) return undefined
  return { value: isQuery ? value : 'OK' }
}
