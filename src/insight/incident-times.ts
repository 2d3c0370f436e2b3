// Summarises how long things took: medians and other shares of times. [contract 16.incidents]

/** The smallest of the times within which at least this share of them were; undefined without times. */
export function timeWithin(times: readonly number[], share: number): number | undefined {
  const sorted = Float64Array.from(times).sort()
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]
}
