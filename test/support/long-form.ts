// Chooses how much a test tries, or how large its fleet is: little in `npm test`, all cases in `npm run test:full`, and much in
// `npm run test:long`.

/** Whether this is `npm run test:long`. */
export const isLongForm = process.env.TEST_LONG === '1'

/** Whether all cases are tried: in `npm run test:full` and `npm run test:long`. */
export const isFullForm = isLongForm || process.env.TEST_FULL === '1'

/**
 * The limit of a measured CPU time: the promised one in the full form, and three times as much in `npm test`, because slower machines
 * and other suites on the same processors make the same work take longer.
 */
export const cpuLimitMs = (promisedMs: number): number => (isFullForm ? promisedMs : 3 * promisedMs)

interface RunCounts {
  readonly short: number
  /** That of the short form if it is absent. */
  readonly full?: number
  readonly long: number
}

/** Returns the number that counts in this test run. */
export const runCount = ({ short, full = short, long }: RunCounts): number => {
  if (isLongForm) return long
  return isFullForm ? full : short
}

/**
 * Returns all cases in the full form. In the short form it returns `count` of them, and the next ones at the next turn: a test that
 * runs for many operations then tries each case with some of them.
 */
export const sampleOf = <T>(cases: readonly T[], turn: number, count = 1): readonly T[] => {
  if (isFullForm || cases.length <= count) return cases
  return Array.from({ length: count }, (_, i) => cases[(turn * count + i) % cases.length] as T)
}

/** Options of fast-check: the same inputs in each `npm test`, and new ones in each `npm run test:long`. */
export const generatedRuns = (counts: RunCounts) => ({
  numRuns: runCount(counts),
  ...(isLongForm ? {} : { seed: 15 }),
})
