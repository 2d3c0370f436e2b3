// Who holds a token: remembered for a moment, so that most requests ask no database. [contract 3.9]
import type { Clock } from '../clock.ts'
import { Bucket, type Limit } from './bucket.ts'
import { isToken, tokenHash } from './token.ts'

export interface Org {
  /** The number that the tables know it by. */
  readonly key: number
  /** The name in paths. */
  readonly id: string
}

export interface KeyHolder {
  readonly org: Org
  readonly keyId: number
  readonly name: string
  readonly read: boolean
  readonly write: boolean
  readonly manage: boolean
  readonly expiresAt: number | null
  /** Requests a second for this key alone; null: what everybody has. */
  readonly rateLimit: number | null
}

export interface Caller extends KeyHolder {
  readonly bucket: Bucket | undefined
}

interface Remembered {
  caller: Caller | undefined
  readAt: number
  asking: { readonly generation: number; readonly answer: Promise<Caller | undefined> } | undefined
}

/** A key revoked by another process is refused within this time, a new one accepted. */
const trustedFor = 500
const missRememberedFor = 900
const mostRemembered = 20_000

export class Keyring {
  readonly #lookUp: (hash: Buffer) => Promise<KeyHolder | undefined>
  readonly #clock: Clock
  readonly #limit: Limit
  readonly #known = new Map<string, Remembered>()
  /** Grows whenever what was read may be wrong, also for a look-up that is still under way. */
  #generation = 0
  #used = new Map<string, { org: number; keyId: number; at: number }>()

  constructor(lookUp: (hash: Buffer) => Promise<KeyHolder | undefined>, clock: Clock, limit: Limit) {
    this.#lookUp = lookUp
    this.#clock = clock
    this.#limit = limit
  }

  /** The caller, or undefined for a token that is malformed, unknown, revoked or expired. */
  find(token: string): Caller | undefined | Promise<Caller | undefined> {
    if (!isToken(token)) return undefined
    const hash = tokenHash(token)
    const name = hash.toString('latin1')
    const now = this.#clock.now()
    const known = this.#known.get(name)
    if (known) {
      const age = now - known.readAt
      if (age >= 0 && age < (known.caller ? trustedFor : missRememberedFor)) return this.#alive(known.caller, now)
      // A look-up that began before something changed may bring what was: only a present one is shared.
      if (known.asking?.generation === this.#generation) return known.asking.answer
    }
    return this.#ask(name, hash, known)
  }

  /** After a key was created or revoked in this process: everything is asked again. */
  forget(): void {
    this.#generation++
    for (const [name, known] of this.#known) {
      if (known.caller) known.readAt = Number.NEGATIVE_INFINITY
      else this.#known.delete(name)
    }
  }

  /** The uses since the last time somebody asked, to be written in one batch. */
  takeUses(): { org: number; keyId: number; at: number }[] {
    const uses = [...this.#used.values()]
    this.#used = new Map()
    return uses
  }

  async #ask(name: string, hash: Buffer, before: Remembered | undefined): Promise<Caller | undefined> {
    if (this.#known.size >= mostRemembered) this.#makeRoom()
    const entry: Remembered = before ?? { caller: undefined, readAt: Number.NEGATIVE_INFINITY, asking: undefined }
    this.#known.set(name, entry)
    const asked = this.#clock.now()
    const generation = this.#generation
    const answer = this.#lookUp(hash).then((holder) => {
      const caller = holder && { ...holder, bucket: this.#bucketFor(holder, entry.caller, asked) }
      if (generation === this.#generation) {
        entry.caller = caller
        entry.readAt = asked
      }
      return this.#alive(caller, asked)
    })
    const asking = { generation, answer }
    entry.asking = asking
    try {
      return await answer
    } finally {
      if (entry.asking === asking) entry.asking = undefined
    }
  }

  /** Guessed tokens go first: callers keep their rate limits. */
  #makeRoom(): void {
    for (const [name, known] of this.#known) if (!known.caller && !known.asking) this.#known.delete(name)
    if (this.#known.size >= mostRemembered) this.#known.clear()
  }

  #bucketFor(holder: KeyHolder, before: Caller | undefined, now: number): Bucket | undefined {
    const rate = holder.rateLimit ?? this.#limit.rate
    const burst = holder.rateLimit === null ? this.#limit.burst : holder.rateLimit * 2
    if (rate === 0) return undefined
    if (before?.bucket?.limit.rate === rate) return before.bucket
    return new Bucket({ rate, burst }, now)
  }

  #alive(caller: Caller | undefined, now: number): Caller | undefined {
    if (!caller || (caller.expiresAt !== null && caller.expiresAt <= now)) return undefined
    const use = this.#used.get(`${caller.org.key}/${caller.keyId}`)
    if (use) use.at = now
    else this.#used.set(`${caller.org.key}/${caller.keyId}`, { org: caller.org.key, keyId: caller.keyId, at: now })
    return caller
  }
}
