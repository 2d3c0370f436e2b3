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

/** Answers whether times are in periods, and where the periods change. The times must be asked for in order. */
export class PeriodReader {
  readonly #periods: readonly SecondsPeriod[]
  #next = 0
  /** The present or next period, joined with those that overlap or touch it. Long lists are joined as they are read. */
  #from = 0
  #to = 0

  /** The periods can overlap, and need no order. */
  constructor(periods: readonly SecondsPeriod[]) {
    this.#periods = isSorted(periods) ? periods : periods.toSorted((a, b) => a[0] - b[0])
    this.#advance()
  }

  has(time: number): boolean {
    while (this.#to <= time) this.#advance()
    return this.#from <= time
  }

  /** The first start or end after a time; infinity after the last one. */
  changeAfter(time: number): number {
    return this.has(time) ? this.#to : this.#from
  }

  #advance(): void {
    this.#from = Number.POSITIVE_INFINITY
    this.#to = Number.POSITIVE_INFINITY
    for (; this.#next < this.#periods.length; this.#next++) {
      const [from, to] = this.#periods[this.#next] as SecondsPeriod
      if (from >= to) continue
      if (this.#from === Number.POSITIVE_INFINITY) [this.#from, this.#to] = [from, to]
      else if (from <= this.#to) this.#to = Math.max(this.#to, to)
      else return
    }
  }
}

function isSorted(periods: readonly SecondsPeriod[]): boolean {
  for (let i = 1; i < periods.length; i++) {
    if ((periods[i] as SecondsPeriod)[0] < (periods[i - 1] as SecondsPeriod)[0]) return false
  }
  return true
}
