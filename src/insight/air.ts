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

export interface AirFigures extends OutsideShare {
  /** Absent if nothing was measured. Of equal ones, the earliest. */
  readonly worstDay: number | undefined
  /** The hour of the day with the largest share outside. */
  readonly worstHour: number | undefined
}

/** The quarters that count: those in which the room was used, or all measured ones if no device counts people in it. */
export type AirBasis = 'used' | 'measured'

/** `valueIn` is in the unit of the limits. */
export function countAir(
  quarters: readonly CountedQuarter[],
  valueIn: (quarter: number) => number | undefined,
  { min, max }: Limit,
  isUsed: ((quarter: number) => boolean) | undefined,
): AirFigures {
  const byDay = new Map<number, { measured: number; outside: number }>()
  const byHour = new Map<number, { measured: number; outside: number }>()
  let [measured, outside] = [0, 0]
  for (const { quarter, day, hour } of quarters) {
    const value = valueIn(quarter)
    if (value === undefined || (isUsed && !isUsed(quarter))) continue
    const isOutside = (min !== undefined && value < min) || (max !== undefined && value > max)
    measured++
    if (isOutside) outside++
    for (const [map, key] of [
      [byDay, day],
      [byHour, hour],
    ] as const) {
      const cell = map.get(key) ?? { measured: 0, outside: 0 }
      cell.measured++
      if (isOutside) cell.outside++
      map.set(key, cell)
    }
  }
  return { measured, outside, worstDay: worstOf(byDay), worstHour: worstOf(byHour) }
}

function worstOf(cells: ReadonlyMap<number, OutsideShare>): number | undefined {
  let worst: readonly [key: number, cell: OutsideShare] | undefined
  for (const [key, cell] of [...cells].sort(([a], [b]) => a - b)) {
    if (!worst || cell.outside * worst[1].measured > worst[1].outside * cell.measured) worst = [key, cell]
  }
  return worst?.[0]
}
