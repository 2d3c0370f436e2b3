// Goes through a long list in parts, with a turn of the event loop for others between two.
import { setImmediate as nextTurn } from 'node:timers/promises'

/** A statement about so many rows takes some milliseconds on SQLite, which runs in this thread. */
export const rowsPerPart = 250

export async function* inParts<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  for (let at = 0; at < items.length; at += rowsPerPart) {
    if (at > 0) await nextTurn()
    yield items.slice(at, at + rowsPerPart)
  }
}

/** Reads the rows that belong to the keys. */
export async function readInParts<K, R>(
  keys: readonly K[],
  read: (part: readonly K[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const rows: R[] = []
  for await (const part of inParts(keys)) rows.push(...(await read(part)))
  return rows
}
