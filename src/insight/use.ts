// Counts how a room was used, in quarters of an hour.
import type { CountedQuarter } from './counted-time.ts'

/** People of a quarter from this mean on count as use. */
export const usedFromHundredths = 20
/** Capacity is judged by at least this number of used quarters. */
export const leastUsedCount = 100
const tooSmallShare = 0.05
const tooLargeShare = 0.95
const tooLargePart = 1 / 3

/** The people of a room in a quarter. */
export interface QuarterPeople {
  readonly hundredths: number
  /** Whether they come from a sensor that only knows 0 and 1. They say whether the room was used, and not by how many. */
  readonly isPresence: boolean
}

export interface UseFigures {
  readonly countedQuarters: number
  readonly measuredQuarters: number
  readonly usedQuarters: number
  /** Absent if no quarter has a count of people. */
  readonly peak: number | undefined
  readonly meanWhenUsed: number | undefined
  /** The mean when used, as a share of the capacity. */
  readonly seatUse: number | undefined
  readonly longestUnusedQuarters: number
  readonly isTooSmall: boolean
  readonly isTooLarge: boolean
  /** Measured and used quarters by weekday from Monday on, and by hour: 7 × 24 of each. */
  readonly table: readonly { readonly measured: number; readonly used: number }[]
}

export function countUse(
  quarters: readonly CountedQuarter[],
  peopleIn: (quarter: number) => QuarterPeople | undefined,
  capacity: number | undefined,
): UseFigures {
  const table = Array.from({ length: 7 * 24 }, () => ({ measured: 0, used: 0 }))
  let [measured, used, unused, longestUnused] = [0, 0, 0, 0]
  let [counted, sum, peak, over, within] = [0, 0, -1, 0, 0]
  for (const { quarter, weekday, hour } of quarters) {
    const people = peopleIn(quarter)
    if (!people) {
      unused = 0
      continue
    }
    const cell = table[weekday * 24 + hour] as { measured: number; used: number }
    measured++
    cell.measured++
    if (!people.isPresence) peak = Math.max(peak, people.hundredths)
    if (people.hundredths < usedFromHundredths) {
      longestUnused = Math.max(longestUnused, ++unused)
      continue
    }
    unused = 0
    used++
    cell.used++
    if (people.isPresence) continue
    counted++
    sum += people.hundredths
    if (capacity !== undefined && people.hundredths > capacity * 100) over++
    if (capacity !== undefined && people.hundredths <= capacity * 100 * tooLargePart) within++
  }
  const meanWhenUsed = counted === 0 ? undefined : sum / counted / 100
  const isJudged = counted >= leastUsedCount && capacity !== undefined
  return {
    countedQuarters: quarters.length,
    measuredQuarters: measured,
    usedQuarters: used,
    peak: peak < 0 ? undefined : peak / 100,
    meanWhenUsed,
    seatUse: meanWhenUsed === undefined || !capacity ? undefined : meanWhenUsed / capacity,
    longestUnusedQuarters: longestUnused,
    isTooSmall: isJudged && over >= counted * tooSmallShare,
    isTooLarge: isJudged && within >= counted * tooLargeShare,
    table,
  }
}
