// Many things at once, but never more than a few.

/** Works through the items with a fixed number of hands; the first error or the signal ends it. */
export async function inParallel<T>(
  items: Iterable<T>,
  hands: number,
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]()
  let failed = false
  const hand = async () => {
    while (!failed && !signal.aborted) {
      const next = queue.next()
      if (next.done) return
      await work(next.value).catch((error) => {
        failed = true
        throw error
      })
    }
  }
  await Promise.all(Array.from({ length: hands }, hand))
  signal.throwIfAborted()
}
