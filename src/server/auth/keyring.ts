// Finds the caller of a token, and caches it briefly, so that most requests need no database query. [contract 3.9]
import { hourMs } from '../../contract/durations.ts'
import { boundedCache } from '../core/bounded-cache.ts'
import type { Clock } from '../core/clock.ts'
import { isApiKey, isSessionSecret, isUserSessionSecret, type TokenKind, tokenHash } from './token.ts'
import { type RateLimit, TokenBucket } from './token-bucket.ts'
import { limitKeyOf, type PersonalKeyRefusal, type TokenHolder } from './token-holder.ts'

export interface Caller extends TokenHolder {
  readonly bucket: TokenBucket | undefined
}

/** A use of a key or session. A later use changes the time. */
export interface TokenUse {
  readonly org: number
  readonly keyId: number | undefined
  readonly userId: number | undefined
  readonly session: Buffer | undefined
  at: number
}

interface CacheEntry {
  caller: Caller | undefined
  /** The last use of a session, which the database may learn some seconds later. */
  usedAt: number
  /** Set at the first use. */
  use: TokenUse | undefined
  readAt: number
  lookUp: { readonly generation: number; readonly result: Promise<Caller | undefined> } | undefined
}

/** A key that another process revokes is refused within this time. */
const callerCacheMs = 500
/** A key that another process creates is accepted within this time. */
const unknownTokenCacheMs = 900
const maxCacheEntries = 20_000
/** A session that is not used ends after this time. [contract 9.session] */
export const sessionIdleMs = 12 * hourMs

/** Returns the hash of a token as text, or undefined for a malformed token, which then costs no look-up. */
export const tokenFingerprint = (token: string, kind: TokenKind): string | undefined =>
  isWellFormed[kind](token) ? tokenHash(token).toString('latin1') : undefined

const isWellFormed: Readonly<Record<TokenKind, (token: string) => boolean>> = {
  key: isApiKey,
  session: isSessionSecret,
  userSession: isUserSessionSecret,
}

type LookUp = (hash: Buffer, kind: TokenKind) => Promise<TokenHolder | undefined>

export class Keyring {
  readonly #lookUp: LookUp
  readonly #clock: Clock
  readonly #limit: RateLimit
  readonly #cache = boundedCache<CacheEntry>(maxCacheEntries)
  /** Is raised when cached callers may be outdated. The result of a look-up from an earlier generation is not cached. */
  #generation = 0
  #used = new Set<TokenUse>()
  /** Buckets by key or person: all of their sessions share a rate limit. */
  readonly #buckets = boundedCache<TokenBucket>(maxCacheEntries)

  constructor(lookUp: LookUp, clock: Clock, limit: RateLimit) {
    this.#lookUp = lookUp
    this.#clock = clock
    this.#limit = limit
  }

  /** Returns undefined for a token that is malformed, unknown, revoked or expired. */
  find(token: string, kind: TokenKind = 'key'): Caller | undefined | Promise<Caller | undefined> {
    const fingerprint = tokenFingerprint(token, kind)
    return fingerprint === undefined ? undefined : this.findByFingerprint(fingerprint, kind)
  }

  findByFingerprint(fingerprint: string, kind: TokenKind): Caller | undefined | Promise<Caller | undefined> {
    const now = this.#clock.now()
    const cached = this.#cache.get(fingerprint)
    if (cached) {
      const ageMs = now - cached.readAt
      if (ageMs >= 0 && ageMs < (cached.caller ? callerCacheMs : unknownTokenCacheMs))
        return this.#recordUse(cached, cached.caller, now)
      // A look-up that began before an invalidation may return outdated data, so only a current one is shared.
      if (cached.lookUp?.generation === this.#generation) return cached.lookUp.result
    }
    return this.#load(fingerprint, kind, cached)
  }

  /** Returns why a personal key is refused, after `find` returned undefined for it; undefined if the key itself is not valid. */
  refusalReason(fingerprint: string): PersonalKeyRefusal | undefined {
    const { expiresAt, refusedFrom } = this.#cache.get(fingerprint)?.caller ?? {}
    const now = this.#clock.now()
    const isExpired = typeof expiresAt === 'number' && expiresAt <= now
    return refusedFrom && refusedFrom.at <= now && !isExpired ? refusedFrom.reason : undefined
  }

  /** Is called after a key was created or revoked in this process, or a session ended. */
  invalidate(): void {
    this.#generation++
    for (const [fingerprint, cached] of this.#cache.entries()) {
      if (cached.caller) cached.readAt = Number.NEGATIVE_INFINITY
      else this.#cache.delete(fingerprint)
    }
  }

  /** Returns the uses since the last call, to be written in one batch. */
  takeUses(): TokenUse[] {
    const uses = [...this.#used]
    this.#used = new Set()
    return uses
  }

  async #load(fingerprint: string, kind: TokenKind, cached: CacheEntry | undefined): Promise<Caller | undefined> {
    const never = Number.NEGATIVE_INFINITY
    const entry: CacheEntry = cached ?? {
      caller: undefined,
      usedAt: never,
      use: undefined,
      readAt: never,
      lookUp: undefined,
    }
    this.#cache.set(fingerprint, entry)
    const now = this.#clock.now()
    const generation = this.#generation
    const result = this.#lookUp(Buffer.from(fingerprint, 'latin1'), kind).then((holder) => {
      const caller = holder && { ...holder, bucket: this.#bucketFor(holder, now) }
      if (holder?.session) entry.usedAt = Math.max(entry.usedAt, holder.session.usedAt)
      if (generation === this.#generation) {
        entry.caller = caller
        entry.readAt = now
      }
      return this.#recordUse(entry, caller, now)
    })
    const lookUp = { generation, result }
    entry.lookUp = lookUp
    try {
      return await result
    } finally {
      if (entry.lookUp === lookUp) entry.lookUp = undefined
    }
  }

  #bucketFor(holder: TokenHolder, now: number): TokenBucket | undefined {
    const rate = holder.rateLimit ?? this.#limit.rate
    const burst = holder.rateLimit === null ? this.#limit.burst : holder.rateLimit * 2
    if (rate === 0) return undefined
    const name = limitKeyOf(holder)
    const existing = this.#buckets.get(name)
    if (existing?.limit.rate === rate) return existing
    const bucket = new TokenBucket({ rate, burst }, now)
    this.#buckets.set(name, bucket)
    return bucket
  }

  /** Returns undefined for a caller whose key or session has expired, or whose person may not use it at present. */
  #recordUse(entry: CacheEntry, caller: Caller | undefined, now: number): Caller | undefined {
    if (!caller || (caller.expiresAt !== null && caller.expiresAt <= now)) return undefined
    if (caller.refusedFrom && caller.refusedFrom.at <= now) return undefined
    const session = caller.session?.hash
    if (session) {
      if (entry.usedAt + sessionIdleMs <= now) return undefined
      entry.usedAt = now
    }
    entry.use ??= { org: caller.org.key, keyId: caller.key?.id, userId: caller.user?.id, session, at: now }
    entry.use.at = now
    this.#used.add(entry.use)
    return caller
  }
}
