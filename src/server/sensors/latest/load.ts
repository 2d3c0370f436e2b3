// Loads what bulk answers need: in pages, and again after a load that failed.
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Few enough for a millisecond or two: on SQLite nothing else runs while a page is read. */
export const pageRows = 500

/** Caches a value whose loading has begun. If the loading fails the value is removed, and the next caller tries again. */
export function cacheUnlessFailed<K, V>(cache: Map<K, V>, key: K, value: V, loading: Promise<unknown>): void {
  cache.set(key, value)
  loading.catch(() => {
    if (cache.get(key) === value) cache.delete(key)
  })
}

/** Reads pages by key, with a turn of the event loop between two. */
export async function* readPages<R, K>(
  list: (after: K) => Promise<R[]>,
  first: K,
  keyOf: (row: R) => K,
  rowsPerPage = pageRows,
): AsyncGenerator<R[]> {
  for (let after = first; ; ) {
    const rows = await list(after)
    yield rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < rowsPerPage) return
    after = keyOf(last)
    await nextTurn()
  }
}
