// Reads and writes many rows in pages, so that SQLite holds the event loop only for a few milliseconds at a time.
import { setImmediate as nextTurn } from 'node:timers/promises'

export const rowsPerPage = 250

/** Reads what belongs to the keys. Other work can run between two pages. */
export async function readInPages<K, R>(
  keys: readonly K[],
  read: (page: readonly K[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const rows: R[] = []
  for (let at = 0; at < keys.length; at += rowsPerPage) {
    if (at > 0) await nextTurn()
    rows.push(...(await read(keys.slice(at, at + rowsPerPage))))
  }
  return rows
}

/** Writes the rows in a transaction, which lets other reads run between two pages if it takes long. */
export async function writeInPages<R>(
  rows: readonly R[],
  write: (page: readonly R[]) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < rows.length; at += rowsPerPage) await write(rows.slice(at, at + rowsPerPage))
}
