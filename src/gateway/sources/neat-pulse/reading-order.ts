// Decides what is read next of what cannot be read every minute: what has changed or failed, then what was never read, then the oldest.

export class ReadingOrder {
  /** When each thing was last read; 0 if never. In the order in which they were added. */
  readonly #readAtMs = new Map<string, number>()
  readonly #changed = new Set<string>()
  /** Things whose reading failed: how many times in a row, and when they are read again. */
  readonly #failed = new Map<string, { readonly count: number; readonly againAtMs: number }>()

  get size(): number {
    return this.#readAtMs.size
  }

  /** These things, and no others, are read. */
  keep(things: Iterable<string>): void {
    const kept = new Set(things)
    for (const thing of this.#readAtMs.keys()) if (!kept.has(thing)) this.#forget(thing)
    for (const thing of kept) if (!this.#readAtMs.has(thing)) this.#readAtMs.set(thing, 0)
  }

  /** The thing is read as soon as there is a turn. */
  hurry(thing: string): void {
    if (this.#readAtMs.has(thing)) this.#changed.add(thing)
  }

  /** Undefined if everything was read within the last `minAgeMs`. */
  next(nowMs: number, minAgeMs: number): { readonly thing: string; readonly hasChanged: boolean } | undefined {
    for (const thing of this.#changed) return { thing, hasChanged: true }
    for (const [thing, { againAtMs }] of this.#failed) if (againAtMs <= nowMs) return { thing, hasChanged: true }
    let oldest: string | undefined
    let oldestMs = nowMs - minAgeMs
    for (const [thing, atMs] of this.#readAtMs) {
      if (atMs === 0) return { thing, hasChanged: false }
      if (atMs <= oldestMs) [oldest, oldestMs] = [thing, atMs]
    }
    return oldest === undefined ? undefined : { thing: oldest, hasChanged: false }
  }

  /** Call before the thing is read: a change while it is read then counts as another one. */
  startReading(thing: string, nowMs: number): void {
    if (this.#readAtMs.has(thing)) this.#readAtMs.set(thing, nowMs)
    this.#changed.delete(thing)
    const failed = this.#failed.get(thing)
    if (failed) this.#failed.set(thing, { ...failed, againAtMs: Number.POSITIVE_INFINITY })
  }

  succeeded(thing: string): void {
    this.#failed.delete(thing)
  }

  /** The thing is read again, each time after twice the wait: one that always fails does not delay the others. */
  failed(thing: string, nowMs: number, waitMs: number): void {
    const count = (this.#failed.get(thing)?.count ?? 0) + 1
    const againAtMs = nowMs + waitMs * 2 ** (count - 1)
    if (this.#readAtMs.has(thing)) this.#failed.set(thing, { count, againAtMs })
  }

  #forget(thing: string): void {
    this.#readAtMs.delete(thing)
    this.#changed.delete(thing)
    this.#failed.delete(thing)
  }
}
