// Statistics of rounds, and the rows of the results that are made of them.

/** Statistics of one value over several rounds. */
export interface Figure {
  readonly median: number
  readonly min: number
  readonly max: number
  readonly rounds: number
}

/** Throughput and latency by the wall clock of the load generator. */
export interface WallClock {
  readonly perSecond: Figure
  readonly p50Ms: Figure
  readonly p99Ms: Figure
}

/** Another product that can do part of the same work, measured in the same run. */
export interface Peer {
  readonly name: string
  readonly figure: Figure
  /** The peer divided by the baseline. */
  readonly ratio: Figure
  readonly clock?: WallClock
}

export interface Row {
  readonly title: string
  readonly unit: string
  readonly ours: Figure
  /** The bare implementation, measured in the same run. */
  readonly baseline?: { readonly name: string; readonly figure: Figure }
  /** Ours divided by the baseline, round by round. */
  readonly ratio?: Figure
  readonly goal?: { readonly text: string; readonly isMet: boolean }
  readonly clock?: { readonly ours: WallClock; readonly baseline?: WallClock }
  readonly peers?: readonly Peer[]
  /** The reason why a goal is not met, or a figure that the columns do not show. */
  readonly note?: string
}

/** Adds the reason if the goal is not met. */
export const withReasonIfMissed = (row: Row, reason: string): Row =>
  row.goal?.isMet === false ? { ...row, note: reason } : row

export function summarise(values: readonly number[]): Figure {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const median = ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN, rounds: sorted.length }
}

/** Divides values of the same round: other load on the machine affects both of them. */
export const ratioByRound = (ours: readonly number[], baseline: readonly number[]): Figure =>
  summarise(ours.map((value, i) => value / (baseline[i] ?? Number.NaN)))

/** The value below which that share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).toSorted()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const atMost = (ratio: Figure, max: number, text = `at most ${max}x`) => ({
  text,
  isMet: ratio.median <= max,
})
export const atLeast = (ratio: Figure, min: number, text = `at least ${min}x`) => ({
  text,
  isMet: ratio.median >= min,
})

/** Runs both sides once a round, one after the other; the order alternates from round to round. */
export async function interleave<A, B>(
  rounds: number,
  ours: () => Promise<A>,
  baseline: () => Promise<B>,
): Promise<{ ours: A[]; baseline: B[] }> {
  const results: { ours: A[]; baseline: B[] } = { ours: [], baseline: [] }
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) results.ours.push(await ours())
    results.baseline.push(await baseline())
    if (round % 2 === 1) results.ours.push(await ours())
  }
  return results
}
