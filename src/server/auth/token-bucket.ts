// A token bucket: so many requests a second, and a burst on top. [contract 7.5]

export interface RateLimit {
  /** Requests a second; 0 switches the limit off. */
  readonly rate: number
  readonly burst: number
}

export class TokenBucket {
  readonly limit: RateLimit
  /** The `RateLimit-Policy` header: the same for every answer. [contract 7.6] */
  readonly policy: string
  #tokens: number
  #at: number

  constructor(limit: RateLimit, now: number) {
    this.limit = limit
    this.policy = `"default";q=${limit.burst};w=${Math.ceil(limit.burst / limit.rate)}`
    this.#tokens = limit.burst
    this.#at = now
  }

  /** Takes one if there is one. */
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

  /** Whole seconds until it is full again. */
  get fullIn(): number {
    return Math.ceil((this.limit.burst - this.#tokens) / this.limit.rate)
  }

  /** Whole seconds until the next one, at least 1. */
  get retryAfter(): number {
    return Math.max(1, Math.ceil((1 - this.#tokens) / this.limit.rate))
  }

  /** Nobody used it for so long that it is as good as new. */
  isFull(now: number): boolean {
    this.#refill(now)
    return this.#tokens >= this.limit.burst
  }

  #refill(now: number): void {
    // A clock that was set back must not take tokens away.
    const elapsed = Math.max(0, now - this.#at)
    this.#tokens = Math.min(this.limit.burst, this.#tokens + (elapsed / 1000) * this.limit.rate)
    this.#at = now
  }
}

/** Buckets by name, for instance by address; the full ones are forgotten when there are many. */
export class TokenBuckets {
  readonly #limit: RateLimit
  readonly #buckets = new Map<string, TokenBucket>()

  constructor(limit: RateLimit) {
    this.#limit = limit
  }

  of(name: string, now: number): TokenBucket {
    let bucket = this.#buckets.get(name)
    if (!bucket) {
      if (this.#buckets.size >= 10_000) this.#sweep(now)
      bucket = new TokenBucket(this.#limit, now)
      this.#buckets.set(name, bucket)
    }
    return bucket
  }

  #sweep(now: number): void {
    for (const [name, bucket] of this.#buckets) if (bucket.isFull(now)) this.#buckets.delete(name)
    if (this.#buckets.size >= 10_000) this.#buckets.clear()
  }
}
