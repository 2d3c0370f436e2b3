// Summarises how long things took: medians and other shares of times. [contract 16.incidents]

/** The smallest of the times, which are sorted, within which at least this share of them were; undefined without times. */
export const timeWithin = (sortedTimes: readonly number[], share: number): number | undefined =>
  sortedTimes[Math.max(0, Math.ceil(share * sortedTimes.length) - 1)]
