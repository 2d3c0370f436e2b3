// Finds openings of incidents that are too many to be sent one by one. [contract 10.delivery]
import { minuteMs } from '../../../../contract/durations.ts'

export const stormWindowMs = 10 * minuteMs
/** More openings than this are sent together. */
export const maxOpenings = 20

/** Returns the openings of every ten minutes that have more than twenty. Expects them in order of time. */
export function findStorms<T extends { readonly created_at: number }>(openings: readonly T[]): T[] {
  const inStorm: T[] = []
  let first = 0
  let nextToAdd = 0
  for (const [last, { created_at }] of openings.entries()) {
    while ((openings[first] as T).created_at <= created_at - stormWindowMs) first++
    if (last - first < maxOpenings) continue
    inStorm.push(...openings.slice(Math.max(first, nextToAdd), last + 1))
    nextToAdd = last + 1
  }
  return inStorm
}
