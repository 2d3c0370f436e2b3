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

/** Sums over quarters of one or several rooms. */
export interface UseSums {
  countedQuarters: number
  measuredQuarters: number
  usedQuarters: number
  /** Below 0 if no quarter has a count of people. */
  peakHundredths: number
  /** Used quarters with a count of people, and these people. */
  headQuarters: number
  headHundredths: number
  /** The people of these quarters in rooms with a capacity, and the seats of these rooms. */
  seatedHundredths: number
  seatHundredths: number
  /** By weekday from Monday on, and by hour: 7 × 24 of each. */
  readonly measuredByHour: Uint32Array
  readonly usedByHour: Uint32Array
}

const weekHourCount = 7 * 24

export const noUse = (): UseSums => ({
  ...{ countedQuarters: 0, measuredQuarters: 0, usedQuarters: 0, peakHundredths: -1 },
  ...{ headQuarters: 0, headHundredths: 0, seatedHundredths: 0, seatHundredths: 0 },
  measuredByHour: new Uint32Array(weekHourCount),
  usedByHour: new Uint32Array(weekHourCount),
})

/** Figures that cannot be summed over rooms. */
export interface OwnUseFigures {
  readonly longestUnusedQuarters: number
  readonly isTooSmall: boolean
  readonly isTooLarge: boolean
}

/** Adds the quarters of a room to sums. */
export function addUse(
  sums: UseSums,
  quarters: readonly CountedQuarter[],
  peopleIn: (quarter: number) => QuarterPeople | undefined,
  capacity: number | undefined,
): OwnUseFigures {
  const { measuredByHour, usedByHour } = sums
  let [measured, used, unused, longestUnused] = [0, 0, 0, 0]
  let [heads, sum, peak, over, within] = [0, 0, sums.peakHundredths, 0, 0]
  for (const { quarter, weekday, hour } of quarters) {
    const people = peopleIn(quarter)
    if (!people) {
      unused = 0
      continue
    }
    const hourOfWeek = weekday * 24 + hour
    measured++
    measuredByHour[hourOfWeek] = (measuredByHour[hourOfWeek] as number) + 1
    if (!people.isPresence && people.hundredths > peak) peak = people.hundredths
    if (people.hundredths < usedFromHundredths) {
      if (++unused > longestUnused) longestUnused = unused
      continue
    }
    unused = 0
    used++
    usedByHour[hourOfWeek] = (usedByHour[hourOfWeek] as number) + 1
    if (people.isPresence) continue
    heads++
    sum += people.hundredths
    if (capacity !== undefined && people.hundredths > capacity * 100) over++
    if (capacity !== undefined && people.hundredths <= capacity * 100 * tooLargePart) within++
  }
  sums.countedQuarters += quarters.length
  sums.measuredQuarters += measured
  sums.usedQuarters += used
  sums.peakHundredths = peak
  sums.headQuarters += heads
  sums.headHundredths += sum
  if (capacity !== undefined) {
    sums.seatedHundredths += sum
    sums.seatHundredths += heads * capacity * 100
  }
  const isJudged = heads >= leastUsedCount && capacity !== undefined
  return {
    longestUnusedQuarters: longestUnused,
    isTooSmall: isJudged && over >= heads * tooSmallShare,
    isTooLarge: isJudged && within >= heads * tooLargeShare,
  }
}

/** A figure is absent if nothing was measured of which it could be made. */
export interface UseFigures {
  readonly coverage: number | undefined
  readonly use: number | undefined
  readonly peak: number | undefined
  readonly meanWhenUsed: number | undefined
  /** People and seats of the used quarters in rooms with a capacity, added up; seatUse is the one divided by the other. */
  readonly personQuarters: number | undefined
  readonly seatQuarters: number | undefined
  readonly seatUse: number | undefined
}

const share = (part: number, whole: number): number | undefined => (whole === 0 ? undefined : part / whole)

export const useFigures = (sums: UseSums): UseFigures => ({
  coverage: share(sums.measuredQuarters, sums.countedQuarters),
  use: share(sums.usedQuarters, sums.measuredQuarters),
  peak: sums.peakHundredths < 0 ? undefined : sums.peakHundredths / 100,
  meanWhenUsed: share(sums.headHundredths, sums.headQuarters * 100),
  personQuarters: sums.seatHundredths === 0 ? undefined : sums.seatedHundredths / 100,
  seatQuarters: sums.seatHundredths === 0 ? undefined : sums.seatHundredths / 100,
  seatUse: share(sums.seatedHundredths, sums.seatHundredths),
})
