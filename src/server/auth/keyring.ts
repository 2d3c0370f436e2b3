// Who holds a token: remembered for a moment, so that most requests ask no database. [contract 3.9]
import type { Clock } from '../core/clock.ts'
import { hourMs } from '../core/durations.ts'
import { isApiKey, isSessionSecret, type TokenKind, tokenHash } from './token.ts'
import { type RateLimit, TokenBucket } from './token-bucket.ts'

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
  /** Set when a session stands for the key. [contract 9.session] */
  readonly session?: { readonly hash: Buffer; readonly usedAt: number }
}

/** A key and its organisation, as the tables have them. */
interface HolderRow {
  readonly org: number
  readonly org_id: string
  readonly id: number
  readonly name: string
  readonly read: number
  readonly write: number
  readonly manage: number
  readonly expires_at: number | null
  readonly rate_limit: number | null
}

export const keyHolderOf = (row: HolderRow): KeyHolder => ({
  org: { key: row.org, id: row.org_id },
  keyId: row.id,
  name: row.name,
  read: row.read === 1,
  write: row.write === 1,
  manage: row.manage === 1,
  expiresAt: row.expires_at,
  rateLimit: row.rate_limit,
})

export interface Caller extends KeyHolder {
  readonly bucket: TokenBucket | undefined
}

/** A key or a session that was used; the last time counts. */
export interface TokenUse {
  readonly org: number
  readonly keyId: number
  readonly session: Buffer | undefined
  at: number
}

interface Remembered {
  caller: Caller | undefined
  /** Of a session: what the database knows may be some seconds old. */
  usedAt: number
  /** Noted when it was first used. */
  use: TokenUse | undefined
  readAt: number
  asking: { readonly generation: number; readonly answer: Promise<Caller | undefined> } | undefined
}

/** A key revoked by another process is refused within this time, a new one accepted. */
const trustedFor = 500
const missRememberedFor = 900
const mostRemembered = 20_000
/** A session that nobody uses ends after this time. [contract 9.session] */
export const sessionIdleMs = 12 * hourMs

/** What a token is known by here, its hash, or undefined for what is no token of that kind: that costs no look-up. */
export const tokenFingerprint = (token: string, kind: TokenKind): string | undefined =>
  (kind === 'key' ? isApiKey(token) : isSessionSecret(token)) ? tokenHash(token).toString('latin1') : undefined

type LookUp = (hash: Buffer, kind: TokenKind) => Promise<KeyHolder | undefined>

export class Keyring {
  readonly #lookUp: LookUp
  readonly #clock: Clock
  readonly #limit: RateLimit
  readonly #known = new Map<string, Remembered>()
  /** Grows whenever what was read may be wrong, also for a look-up that is still under way. */
  #generation = 0
  #used = new Set<TokenUse>()
  /** By key: its sessions share its rate limit. */
  readonly #buckets = new Map<string, TokenBucket>()

  constructor(lookUp: LookUp, clock: Clock, limit: RateLimit) {
    this.#lookUp = lookUp
    this.#clock = clock
    this.#limit = limit
  }

  /** The caller, or undefined for a token that is malformed, unknown, revoked or expired. */
  find(token: string, kind: TokenKind = 'key'): Caller | undefined | Promise<Caller | undefined> {
    const name = tokenFingerprint(token, kind)
    return name === undefined ? undefined : this.findByFingerprint(name, kind)
  }

  /** The same by the name of a token. */
  findByFingerprint(name: string, kind: TokenKind): Caller | undefined | Promise<Caller | undefined> {
    const now = this.#clock.now()
    const known = this.#known.get(name)
    if (known) {
      const age = now - known.readAt
      if (age >= 0 && age < (known.caller ? trustedFor : missRememberedFor))
        return this.#alive(known, known.caller, now)
      // A look-up that began before something changed may bring what was: only a present one is shared.
      if (known.asking?.generation === this.#generation) return known.asking.answer
    }
    return this.#ask(name, kind, known)
  }

  /** After a key was created or revoked in this process, or a session ended: everything is asked again. */
  invalidate(): void {
    this.#generation++
    for (const [name, known] of this.#known) {
      if (known.caller) known.readAt = Number.NEGATIVE_INFINITY
      else this.#known.delete(name)
    }
  }

  /** The uses since the last time somebody asked, to be written in one batch. */
  takeUses(): TokenUse[] {
    const uses = [...this.#used]
    this.#used = new Set()
    return uses
  }

  async #ask(name: string, kind: TokenKind, before: Remembered | undefined): Promise<Caller | undefined> {
    if (this.#known.size >= mostRemembered) this.#makeRoom()
    const never = Number.NEGATIVE_INFINITY
    const entry: Remembered = before ?? {
      caller: undefined,
      usedAt: never,
      use: undefined,
      readAt: never,
      asking: undefined,
    }
    this.#known.set(name, entry)
    const asked = this.#clock.now()
    const generation = this.#generation
    const answer = this.#lookUp(Buffer.from(name, 'latin1'), kind).then((holder) => {
      const caller = holder && { ...holder, bucket: this.#bucketFor(holder, asked) }
      if (holder?.session) entry.usedAt = Math.max(entry.usedAt, holder.session.usedAt)
      if (generation === this.#generation) {
        entry.caller = caller
        entry.readAt = asked
      }
      return this.#alive(entry, caller, asked)
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

  #bucketFor(holder: KeyHolder, now: number): TokenBucket | undefined {
    const rate = holder.rateLimit ?? this.#limit.rate
    const burst = holder.rateLimit === null ? this.#limit.burst : holder.rateLimit * 2
    if (rate === 0) return undefined
    const name = `${holder.org.key}/${holder.keyId}`
    const before = this.#buckets.get(name)
    if (before?.limit.rate === rate) return before
    if (this.#buckets.size >= mostRemembered) {
      for (const [other, bucket] of this.#buckets) if (bucket.isFull(now)) this.#buckets.delete(other)
    }
    const bucket = new TokenBucket({ rate, burst }, now)
    this.#buckets.set(name, bucket)
    return bucket
  }

  #alive(entry: Remembered, caller: Caller | undefined, now: number): Caller | undefined {
    if (!caller || (caller.expiresAt !== null && caller.expiresAt <= now)) return undefined
    const session = caller.session?.hash
    if (session) {
      if (entry.usedAt + sessionIdleMs <= now) return undefined
      entry.usedAt = now
    }
    entry.use ??= { org: caller.org.key, keyId: caller.keyId, session, at: now }
    entry.use.at = now
    this.#used.add(entry.use)
    return caller
  }
}
