// A log of reads and writes of numbered values, and the check that every read was strict.

export interface ValueCall {
  readonly kind: 'read' | 'write'
  readonly key: string
  /** Writes of a key count up from 1, one after the other. Zero is the value before the first. */
  readonly value: number
  /** Times by the monotonic clock. */
  readonly begin: number
  readonly end: number
}

/**
 * Finds reads that miss a value which was written, or shown by another read, before they began, and reads of a value that
 * no client had begun to write. Without these, the reads and writes of a key have an order that fits all of their times.
 */
export function staleReads(history: readonly ValueCall[]): string[] {
  const problems: string[] = []
  const callsOf = Map.groupBy(history, ({ key }) => key)
  for (const [key, calls] of callsOf) {
    const byEnd = calls.toSorted((a, b) => a.end - b.end)
    const writesByBegin = calls.filter(({ kind }) => kind === 'write').toSorted((a, b) => a.begin - b.begin)
    for (const read of calls.filter(({ kind }) => kind === 'read')) {
      const known = byEnd.filter(({ end }) => end < read.begin).reduce((max, { value }) => Math.max(max, value), 0)
      if (read.value < known)
        problems.push(`${key}: a read shows ${read.value}, but ${known} was known before it began`)
      const begun = writesByBegin
        .filter(({ begin }) => begin < read.end)
        .reduce((max, { value }) => Math.max(max, value), 0)
      if (read.value > begun)
        problems.push(`${key}: a read shows ${read.value}, but only ${begun} was begun before it ended`)
    }
  }
  return problems
}
