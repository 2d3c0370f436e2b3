// A token bucket limits requests per second, and allows a burst. [contract 7.5]

import { secondMs } from '../../contract/durations.ts'
import { boundedCache } from '../core/bounded-cache.ts'

export interface RateLimit {
  /** Requests a second; 0 switches the limit off. */
  readonly rate: number
  readonly burst: number
}

export class TokenBucket {
  readonly limit: RateLimit
  /** The value of the `RateLimit-Policy` header. [contract 7.6] */
  readonly policy: string
  #tokens: number
  #at: number

  constructor(limit: RateLimit, now: number) {
    this.limit = limit
    this.policy = `"default";q=${limit.burst};w=${Math.ceil(limit.burst / limit.rate)}`
    this.#tokens = limit.burst
    this.#at = now
  }

  /** Takes a token, and returns whether there was one. */
  take(now: number): boolean {
    this.#refill(now)
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }

  isEmpty(now: number): boolean {
    this.#refill(now)
    return this.#tokens < 1
  }

  get remaining(): number {
    return Math.floor(this.#tokens)
  }

  /** The number of whole seconds until the bucket is full. */
  get fullIn(): number {
    return Math.ceil((this.limit.burst - this.#tokens) / this.limit.rate)
  }

  /** The number of whole seconds until the next token, at least 1. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil((1 - this.#tokens) / this.limit.rate))
  }

  #refill(now: number): void {
    // A clock that was set back must not take tokens away.
    const elapsedMs = Math.max(0, now - this.#at)
    this.#tokens = Math.min(this.limit.burst, this.#tokens + (elapsedMs / secondMs) * this.limit.rate)
    this.#at = now
  }
}

const maxBuckets = 10_000

/** Buckets by name, for instance by address. The least recently used are removed when there are too many. */
export class TokenBuckets {
  readonly #limit: RateLimit
  readonly #buckets = boundedCache<TokenBucket>(maxBuckets)

  constructor(limit: RateLimit) {
    this.#limit = limit
  }

  of(name: string, now: number): TokenBucket {
    let bucket = this.#buckets.get(name)
    if (!bucket) {
      bucket = new TokenBucket(this.#limit, now)
      this.#buckets.set(name, bucket)
    }
    return bucket
  }
}
