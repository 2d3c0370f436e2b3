// Runs a limited number of requests at the same time.

/** A server answers a caller with a rate limit, and a browser has few connections. */
const maxAtOnce = 6

export async function mapInParallel<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(items.length)
  let next = 0
  const work = async () => {
    while (next < items.length) {
      const i = next++
      results[i] = await run(items[i] as T)
    }
  }
  await Promise.all(Array.from({ length: Math.min(maxAtOnce, items.length) }, work))
  return results
}
