// Rounds, their medians and spreads, and the lines of the table that come out of them.

/** What several rounds gave. */
export interface Figure {
  readonly median: number
  readonly min: number
  readonly max: number
  readonly rounds: number
}

/** One line of the table. */
export interface Line {
  readonly what: string
  readonly unit: string
  readonly ours: Figure
  /** The limit beside it, measured in the same run. */
  readonly limit?: { readonly name: string; readonly figure: Figure }
  /** Ours divided by the limit, round by round. */
  readonly ratio?: Figure
  readonly goal?: { readonly text: string; readonly isMet: boolean }
}

export function figure(values: readonly number[]): Figure {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const median = ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN, rounds: sorted.length }
}

/** Neighbours in time are compared: what else the machine does weighs on both. */
export const ratios = (ours: readonly number[], limit: readonly number[]): Figure =>
  figure(ours.map((value, i) => value / (limit[i] ?? Number.NaN)))

/** The value below which that share of the values lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).toSorted()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const atMost = (ratio: Figure, most: number, text = `at most ${most}x`) => ({
  text,
  isMet: ratio.median <= most,
})
export const atLeast = (ratio: Figure, least: number, text = `at least ${least}x`) => ({
  text,
  isMet: ratio.median >= least,
})

/** Runs each side once a round, one after the other, in turns: whoever was first comes second the next time. */
export async function interleave<A, B>(
  rounds: number,
  ours: () => Promise<A>,
  limit: () => Promise<B>,
): Promise<{ ours: A[]; limit: B[] }> {
  const results: { ours: A[]; limit: B[] } = { ours: [], limit: [] }
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) results.ours.push(await ours())
    results.limit.push(await limit())
    if (round % 2 === 1) results.ours.push(await ours())
  }
  return results
}
