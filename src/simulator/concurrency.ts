// Runs work on many items with a limited concurrency.

/** Works on up to `concurrency` items at a time. The first error or the signal ends it. */
export async function forEachConcurrently<T>(
  items: Iterable<T>,
  concurrency: number,
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]()
  let failed = false
  const worker = async () => {
    while (!failed && !signal.aborted) {
      const next = queue.next()
      if (next.done) return
      await work(next.value).catch((error) => {
        failed = true
        throw error
      })
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  signal.throwIfAborted()
}
