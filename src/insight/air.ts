// Counts for how long the air of a room was outside of its limits, in quarters of an hour.
import type { CountedQuarter } from './counted-time.ts'

export interface Limit {
  readonly min?: number | undefined
  readonly max?: number | undefined
}

export interface OutsideShare {
  readonly measured: number
  readonly outside: number
}

type Cell = { measured: number; outside: number }

/** Sums over quarters of one or several rooms. */
export interface AirSums extends Cell {
  readonly byDay: Map<number, Cell>
  /** By the hour of the day. */
  readonly byHour: readonly Cell[]
}

const emptyCell = (): Cell => ({ measured: 0, outside: 0 })

export const noAir = (): AirSums => ({
  ...emptyCell(),
  byDay: new Map(),
  byHour: Array.from({ length: 24 }, emptyCell),
})

/** The quarters that count: those in which the room was used, or all measured ones if no device counts people in it. */
export type AirBasis = 'used' | 'measured'

export const isOutside = (value: number, { min, max }: Limit): boolean =>
  (min !== undefined && value < min) || (max !== undefined && value > max)

/** Adds the quarters of a room to sums. `isOutsideIn` returns undefined for a quarter in which nothing was measured. */
export function addAir(
  sums: AirSums,
  quarters: readonly CountedQuarter[],
  isOutsideIn: (quarter: number) => boolean | undefined,
  isUsed: ((quarter: number) => boolean) | undefined,
): void {
  const { byDay, byHour } = sums
  let [ofDay, latestDay] = [emptyCell(), Number.NaN]
  for (const { quarter, day, hour } of quarters) {
    const isOut = isOutsideIn(quarter)
    if (isOut === undefined || (isUsed && !isUsed(quarter))) continue
    if (day !== latestDay) {
      latestDay = day
      const known = byDay.get(day)
      ofDay = known ?? emptyCell()
      if (!known) byDay.set(day, ofDay)
    }
    const ofHour = byHour[hour] as Cell
    sums.measured++
    ofDay.measured++
    ofHour.measured++
    if (!isOut) continue
    sums.outside++
    ofDay.outside++
    ofHour.outside++
  }
}

export interface AirFigures extends OutsideShare {
  /** Absent if nothing was measured. Of equal ones, the earliest. */
  readonly worstDay: number | undefined
  /** The hour of the day with the largest share outside. */
  readonly worstHour: number | undefined
}

export const airFigures = ({ measured, outside, byDay, byHour }: AirSums): AirFigures => ({
  measured,
  outside,
  worstDay: worstOf(byDay),
  worstHour: worstOf(byHour.entries()),
})

function worstOf(cells: Iterable<readonly [number, OutsideShare]>): number | undefined {
  let worst: readonly [key: number, cell: OutsideShare] | undefined
  for (const [key, cell] of [...cells].sort(([a], [b]) => a - b)) {
    if (cell.measured === 0) continue
    if (!worst || cell.outside * worst[1].measured > worst[1].outside * cell.measured) worst = [key, cell]
  }
  return worst?.[0]
}
