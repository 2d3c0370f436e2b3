// Goes through a long list in parts, with a turn of the event loop for others between two.
import { setImmediate as nextTurn } from 'node:timers/promises'

/** A statement about so many rows takes some milliseconds on SQLite, which runs in this thread. */
const itemsPerPart = 250

export async function* inParts<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  for (let at = 0; at < items.length; at += itemsPerPart) {
    if (at > 0) await nextTurn()
    yield items.slice(at, at + itemsPerPart)
  }
}
