// When the service started, and which of its earlier ends devices still have time to come back from. [contract 10.start]

/** A row of the table of nodes. */
export interface NodeLife {
  readonly id: number
  readonly name: string
  readonly startedAt: number
  /** Null while the node is up. */
  readonly endedAt: number | null
}

/**
 * Returns when the first node of the present, unbroken chain of overlapping nodes started. A node that takes over as the one before
 * it ends continues the chain.
 */
export function serviceStart(lives: readonly NodeLife[], now: number): number {
  let start = now
  for (const life of lives.toSorted((a, b) => endTimeOf(b) - endTimeOf(a))) {
    const isOverlapping = endTimeOf(life) > start || life.endedAt === null
    if (isOverlapping) start = Math.min(start, life.startedAt)
  }
  return start
}

/**
 * Returns the end of the last run before the present one in which devices had their whole time to come back; 0 if there was none. A run
 * that crashed soon after its start was too short for that, so its start does not make devices count as offline.
 */
export function lastKnownEnd(lives: readonly NodeLife[], start: number, settleMs: number): number {
  const earlier = lives.filter((life) => endTimeOf(life) <= start)
  if (earlier.length === 0) return 0
  const end = Math.max(...earlier.map(endTimeOf))
  // A moment before its end, the run was still going on.
  const runStart = serviceStart(earlier, end - 1)
  if (end - runStart >= settleMs) return end
  return lastKnownEnd(earlier, runStart, settleMs) || end
}

const endTimeOf = ({ endedAt }: NodeLife): number => endedAt ?? Number.POSITIVE_INFINITY
