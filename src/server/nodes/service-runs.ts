// When the service started, and which of its earlier ends devices still have time to come back from. [contract 10.start]

/** A row of the table of nodes. */
export interface NodeLife {
  readonly id: number
  readonly name: string
  readonly startedAt: number
  /** Null while the node is up. */
  readonly endedAt: number | null
  /** Until when the node is known to have run; null while it is up. The end of a node that crashed can be noticed much later. */
  readonly seenAt: number | null
}

/** Returns when the first node of the present, unbroken chain of overlapping nodes started. A node that starts before the previous one ends continues the chain. */
export function serviceStart(lives: readonly NodeLife[], now: number): number {
  let start = now
  for (const life of lives.toSorted((a, b) => endTimeOf(b) - endTimeOf(a))) {
    const isOverlapping = endTimeOf(life) > start || life.endedAt === null
    if (isOverlapping) start = Math.min(start, life.startedAt)
  }
  return start
}

/**
 * Returns the end of the latest earlier run that is known to have lasted at least `settleMs`: in a shorter one, devices did not have their
 * whole time to come back. If all were shorter it is the end of the first one, and 0 if there was none.
 */
export function lastKnownEnd(lives: readonly NodeLife[], start: number, settleMs: number): number {
  let run: { start: number; seenAt: number; readonly end: number } | undefined
  for (const life of lives.toSorted((a, b) => endTimeOf(b) - endTimeOf(a))) {
    const end = endTimeOf(life)
    if (end > start) continue
    if (run && end > run.start) {
      run.start = Math.min(run.start, life.startedAt)
      run.seenAt = Math.max(run.seenAt, life.seenAt ?? end)
    } else {
      if (run && run.seenAt - run.start >= settleMs) break
      run = { start: Math.min(life.startedAt, end - 1), seenAt: life.seenAt ?? end, end }
    }
  }
  return run?.end ?? 0
}

const endTimeOf = ({ endedAt }: NodeLife): number => endedAt ?? Number.POSITIVE_INFINITY
