// Rounds, their medians and spreads, and the lines of the table that come out of them.

/** What several rounds gave. */
export interface Figure {
  readonly median: number
  readonly min: number
  readonly max: number
  readonly rounds: number
}

/** The same by the clock of who asked. */
export interface Clock {
  readonly perSecond: Figure
  /** Milliseconds. */
  readonly p50: Figure
  readonly p99: Figure
}

/** What somebody might use instead, measured in the same run. */
export interface Peer {
  readonly name: string
  readonly figure: Figure
  /** Divided by the limit. */
  readonly ratio: Figure
  readonly clock?: Clock
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
  readonly clock?: { readonly ours: Clock; readonly limit?: Clock }
  readonly peers?: readonly Peer[]
  /** Why a goal is not met, or what a reader has to know. */
  readonly note?: string
  /** The README has it although it has no goal. */
  readonly isQuoted?: true
}

/** With the reason, if the goal is not met. */
export const explained = (line: Line, reason: string): Line =>
  line.goal?.isMet === false ? { ...line, note: reason } : line

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
