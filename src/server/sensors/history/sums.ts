// Adds up the statistics of buckets, from rollups and from samples, in any order.
import type { SensorColumn } from '../../db/schema/schema.ts'
import type { StatisticsRow } from './store.ts'

type Numbers = Record<string, number | null>

/** The names of a sensor's four columns. */
export const namesOf = (column: SensorColumn) => ({
  count: `${column}_count` as const,
  min: `${column}_min` as const,
  max: `${column}_max` as const,
  sum: `${column}_sum` as const,
})

export class Sums {
  readonly #first: number
  readonly #rows: (StatisticsRow | undefined)[]
  readonly #names: ReturnType<typeof namesOf>[]

  constructor(columns: readonly SensorColumn[], first: number, end: number) {
    this.#first = first
    this.#rows = new Array(end - first)
    this.#names = columns.map(namesOf)
  }

  /** Takes over the row, which may become the sum. */
  add(bucket: number, row: StatisticsRow): void {
    const at = bucket - this.#first
    const sum = this.#rows[at] as Numbers | undefined
    if (!sum) {
      row.slot = bucket
      this.#rows[at] = row
      return
    }
    for (const { count, min, max, sum: total } of this.#names) {
      const more = row as Numbers
      if (!more[count]) continue
      const isFirst = !sum[count]
      sum[min] = isFirst ? (more[min] as number) : Math.min(sum[min] as number, more[min] as number)
      sum[max] = isFirst ? (more[max] as number) : Math.max(sum[max] as number, more[max] as number)
      sum[total] = (isFirst ? 0 : (sum[total] as number)) + (more[total] as number)
      sum[count] = (sum[count] ?? 0) + more[count]
    }
  }

  /** The buckets that have a value, in order; `slot` is the number of the bucket. */
  filled(): StatisticsRow[] {
    return this.#rows.filter(
      (row) => row !== undefined && this.#names.some(({ count }) => row[count] > 0),
    ) as StatisticsRow[]
  }
}
