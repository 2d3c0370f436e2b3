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
  /** The quarters of each field alone. A quarter counts in the sums above if it counts for one of the fields. */
  readonly fields: readonly Cell[]
  readonly byDay: Map<number, Cell>
  /** By the hour of the day. */
  readonly byHour: readonly Cell[]
}

const emptyCell = (): Cell => ({ measured: 0, outside: 0 })

export const noAir = (fieldCount: number): AirSums => ({
  ...emptyCell(),
  fields: Array.from({ length: fieldCount }, emptyCell),
  byDay: new Map(),
  byHour: Array.from({ length: 24 }, emptyCell),
})

/** The quarters that count: those in which the room was used, or all measured ones if no device counts people in it. */
export type AirBasis = 'used' | 'measured'

export const isOutside = (value: number, { min, max }: Limit): boolean =>
  (min !== undefined && value < min) || (max !== undefined && value > max)

/** The air of a quarter in bits, to count millions of quarters quickly: a bit for each field that was measured, and eight bits further one if it was outside. */
export const airBits = (field: number, isOut: boolean): number => (isOut ? 0x101 : 1) << field

/** Adds the quarters of a room to sums. `bitsIn` is 0 for a quarter in which nothing was measured. */
export function addAir(
  sums: AirSums,
  quarters: readonly CountedQuarter[],
  bitsIn: (quarter: number) => number,
  isUsed: ((quarter: number) => boolean) | undefined,
): void {
  const { byDay, byHour, fields } = sums
  let [ofDay, latestDay] = [emptyCell(), Number.NaN]
  for (const { quarter, day, hour } of quarters) {
    const bits = bitsIn(quarter)
    if (bits === 0 || (isUsed && !isUsed(quarter))) continue
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
    for (let field = 0; field < fields.length; field++) {
      if ((bits & airBits(field, false)) === 0) continue
      const cell = fields[field] as Cell
      cell.measured++
      if ((bits & (0x100 << field)) !== 0) cell.outside++
    }
    if (bits < 0x100) continue
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
