// The list of all caches of a process, so that they can be cleared together.

export class CacheList {
  readonly #caches: { clear(): void }[] = []

  add(...caches: { clear(): void }[]): void {
    this.#caches.push(...caches)
  }

  clear(): void {
    for (const cache of this.#caches) cache.clear()
  }
}
