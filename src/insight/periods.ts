// Periods of time, in Unix seconds: from the first second, inclusive, to the last, exclusive.

export type SecondsPeriod = readonly [from: number, to: number]

/** Sorts periods, and joins those that overlap or touch. */
export function joinPeriods(periods: readonly SecondsPeriod[]): SecondsPeriod[] {
  const joined: [number, number][] = []
  for (const [from, to] of periods.filter(([a, b]) => a < b).toSorted((a, b) => a[0] - b[0])) {
    const last = joined.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else joined.push([from, to])
  }
  return joined
}

/** Answers whether times are in periods. The times must be asked for in order. */
export class PeriodReader {
  readonly #periods: readonly SecondsPeriod[]
  #at = 0

  /** The periods can overlap, and need no order. */
  constructor(periods: readonly SecondsPeriod[]) {
    this.#periods = joinPeriods(periods)
  }

  has(time: number): boolean {
    while ((this.#periods[this.#at]?.[1] ?? Number.POSITIVE_INFINITY) <= time) this.#at++
    return (this.#periods[this.#at]?.[0] ?? Number.POSITIVE_INFINITY) <= time
  }
}
