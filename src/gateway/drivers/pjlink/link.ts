// Sends questions to one projector: connects when there is one, answers the challenge, keeps the pause between commands, and remembers
// which form of the digest the projector accepts.
import { setTimeout as pause } from 'node:timers/promises'
import { type DeviceNetwork, DriverFailure, type DriverItem } from '../../driver.ts'
import { md5Digest, sha256Digest } from './challenge.ts'
import { type PjlinkAnswer, type PjlinkClass, PjlinkConnection, PjlinkTrouble } from './connection.ts'
import type { PjlinkOptions } from './options.ts'
import type { PjlinkTimings } from './timings.ts'

/** How often one question is asked, with a new connection each time. */
const maxTries = 3

interface LinkOptions {
  readonly item: DriverItem
  readonly network: DeviceNetwork
  readonly signal: AbortSignal
  readonly timings: PjlinkTimings
  readonly options: PjlinkOptions
}

export class PjlinkLink {
  readonly #options: LinkOptions
  #connection: PjlinkConnection | undefined
  /** Unknown until the first challenge. */
  #challenge: 'md5' | 'sha256' | undefined
  /** Some projectors want the digest in front of the first command only, some in front of each. */
  #digestOnEvery = false
  /** Whether the projector has ever accepted the password. */
  #wasAccepted = false
  #lastActivityAt = Number.NEGATIVE_INFINITY

  constructor(options: LinkOptions) {
    this.#options = options
    if (options.options.challenge === 'md5') this.#challenge = 'md5'
    options.signal.addEventListener('abort', () => this.close(), { once: true })
  }

  close(): void {
    this.#connection?.close()
    this.#connection = undefined
  }

  /** Asks one question; throws a PjlinkTrouble, or the DriverFailure of the network. The caller asks one at a time. */
  async ask(pjlinkClass: PjlinkClass, name: string, parameter: string): Promise<PjlinkAnswer> {
    for (let tries = 1; ; tries++) {
      const startedAt = performance.now()
      const isNew = !this.#connection?.isOpen
      let connection = isNew ? undefined : this.#connection
      try {
        connection ??= await this.#connect(startedAt)
        await this.#keepGap()
        const withDigest = connection.digest !== '' && (connection.answered === 0 || this.#digestOnEvery)
        const leftMs = isNew ? this.#leftOfAttempt(startedAt) : Number.POSITIVE_INFINITY
        const timeoutMs = Math.min(this.#options.timings.answerMs, leftMs)
        const answer = await connection.ask(pjlinkClass, name, parameter, withDigest, timeoutMs)
        this.#wasAccepted = true
        this.#lastActivityAt = performance.now()
        return answer
      } catch (error) {
        // After a timeout the answer could still come and be taken for the answer to another question.
        this.close()
        this.#lastActivityAt = performance.now()
        if (tries === maxTries || !this.#isWorthRetry(error, connection?.answered ?? 0, tries)) throw error
      }
    }
  }

  #isWorthRetry(error: unknown, answered: number, tries: number): boolean {
    if (!(error instanceof PjlinkTrouble) || this.#options.signal.aborted) return false
    // The projector closed an idle connection.
    if (error.kind === 'closed') return answered > 0
    if (error.kind !== 'refused') return false
    if (answered > 0) {
      this.#digestOnEvery = !this.#digestOnEvery
      return true
    }
    // A projector can refuse a password that it has accepted before by mistake; a second refusal counts.
    return this.#wasAccepted && tries === 1
  }

  #leftOfAttempt(startedAt: number): number {
    return Math.max(1, this.#options.timings.attemptMs - (performance.now() - startedAt))
  }

  async #keepGap(): Promise<void> {
    const waitMs = this.#lastActivityAt + this.#options.options.gapMs - performance.now()
    if (waitMs > 0) await pause(waitMs, undefined, { signal: this.#options.signal })
  }

  async #connect(startedAt: number): Promise<PjlinkConnection> {
    const { item, network, signal, timings } = this.#options
    await this.#keepGap()
    const { host, port } = item
    const timeoutMs = this.#leftOfAttempt(startedAt)
    const socket = await network.connect({ host, port, timeoutMs, signal })
    const connection = new PjlinkConnection(socket, Math.min(timings.answerMs, this.#leftOfAttempt(startedAt)))
    if (signal.aborted) connection.close()
    try {
      const random = await connection.greeting()
      if (random !== undefined && !(await this.#answerChallenge(connection, random))) {
        connection.close()
        this.#lastActivityAt = performance.now()
        return await this.#connect(performance.now())
      }
    } catch (error) {
      connection.close()
      this.#lastActivityAt = performance.now()
      throw error
    }
    this.#connection = connection
    return connection
  }

  /** False if the projector does not know the challenge of version 2.10, and needs a new connection for the old one. */
  async #answerChallenge(connection: PjlinkConnection, random: string): Promise<boolean> {
    const password = this.#options.item.secret ?? ''
    if (password === '') throw new PjlinkTrouble('passwordMissing', 'The projector asks for a password.')
    if (this.#challenge !== 'md5') {
      const theirs = await connection.challenge256(this.#options.timings.challenge256Ms).catch((error) => {
        if (error.kind === 'flood') throw error
        return undefined
      })
      if (theirs === undefined) {
        // It has answered this challenge before, so there is no fall-back to the weaker one.
        if (this.#challenge === 'sha256')
          throw new PjlinkTrouble('silent', 'The projector does not send its challenge.')
        if (this.#options.options.challenge === 'sha256')
          throw new DriverFailure(
            'UNSUPPORTED',
            'The projector does not know SHA-256, and the item allows nothing else. Set its option "Sign-in" to automatic.',
          )
        this.#challenge = 'md5'
        return false
      }
      this.#challenge = 'sha256'
      connection.digest = sha256Digest(theirs, password)
      return true
    }
    connection.digest = md5Digest(random, password)
    return true
  }
}

/** The sentence that tells a technician what to do. */
export function pjlinkFailure(error: unknown, isFirst: boolean): DriverFailure {
  if (error instanceof DriverFailure) return error
  if (!(error instanceof PjlinkTrouble)) return new DriverFailure('UNREACHABLE', (error as Error).message)
  const advice = 'Enter the password of its PJLink or network settings; some projectors use that of their web page.'
  if (error.kind === 'refused' || error.kind === 'passwordMissing')
    return new DriverFailure('REFUSED', `${error.message} ${advice}`)
  // A device that has spoken PJLink before is a projector that misbehaves now.
  const isUnsupported = isFirst && (error.kind === 'foreign' || error.kind === 'flood')
  return new DriverFailure(isUnsupported ? 'UNSUPPORTED' : 'UNREACHABLE', error.message)
}
