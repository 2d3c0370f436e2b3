// A cache of at most so many entries, of which the least recently used is removed first.
import { LRUCache } from 'lru-cache'

/** The count is given as a size: with `max`, lru-cache allocates all of its entries immediately, which took several ms for each start of the service. */
export const boundedCache = <Value extends {}>(maxEntries: number): LRUCache<string, Value> =>
  new LRUCache({ maxSize: maxEntries, sizeCalculation: () => 1 })
