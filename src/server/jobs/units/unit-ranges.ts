// Goes through the units of a job in ranges of their numbers, with a turn of the event loop for others between two.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { UnitRange } from './unit-count-store.ts'

/** A statement that counts so many units takes some milliseconds on SQLite, which runs in this thread. */
export const rangeSizeRows = 2000

/** The units of a job are numbered from 1, without gaps. */
export async function* unitRanges(unitCount: number, sizeRows = rangeSizeRows): AsyncGenerator<UnitRange> {
  for (let from = 1; from <= unitCount; from += sizeRows) {
    if (from > 1) await nextTurn()
    yield { from, to: from + sizeRows - 1 }
  }
}
