// Computes when nothing was connected, and when something was offline, from connection spans. All times are milliseconds.

/** A period from its first number, inclusive, to its second, exclusive. */
export type Period = readonly [from: number, to: number]

/** The times in which an endpoint, or all endpoints of a room, had no connection. */
export interface Absence {
  readonly gaps: readonly Period[]
  /** The parts of the gaps that count as outages: the others followed the stop of a server. */
  readonly outages: readonly Period[]
}

/** Collects the gaps between the spans of one endpoint. They are added in the order of their beginnings, and may overlap. */
export class Gaps {
  readonly #gaps: Period[] = []
  readonly #outages: Period[] = []
  readonly #from: number
  readonly #to: number
  #at: number
  #unknownUntil = Number.NEGATIVE_INFINITY

  constructor([from, to]: Period) {
    this.#from = from
    this.#at = from
    this.#to = to
  }

  /** Until `unknownUntil`, or the next span, it is not known whether the endpoint was offline. */
  add(since: number, until: number, unknownUntil: number | null = null): void {
    // A span before the window can be followed by a time that is not known.
    const isBefore = until <= this.#from
    if (!isBefore && (until <= this.#at || since >= this.#to || until <= since)) return
    if (!isBefore) {
      this.#addGap(since)
      this.#at = until
    }
    this.#unknownUntil = unknownUntil ?? Number.NEGATIVE_INFINITY
  }

  /** Must be called last, and once. */
  end(): Absence {
    this.#addGap(this.#to)
    return { gaps: this.#gaps, outages: this.#outages }
  }

  #addGap(to: number): void {
    if (to <= this.#at) return
    this.#gaps.push([this.#at, to])
    const from = Math.max(this.#at, this.#unknownUntil)
    if (from < to) this.#outages.push([from, to])
  }
}

/** Returns the times that are in both lists. The periods of a list are in order and do not overlap. */
export function intersect(some: readonly Period[], others: readonly Period[]): Period[] {
  const both: Period[] = []
  for (let i = 0, j = 0; i < some.length && j < others.length; ) {
    const [a, b] = [some[i] as Period, others[j] as Period]
    const [from, to] = [Math.max(a[0], b[0]), Math.min(a[1], b[1])]
    if (from < to) both.push([from, to])
    if (a[1] < b[1]) i++
    else j++
  }
  return both
}

interface Availability {
  /** Absent if nothing is known about the window. */
  readonly onlineShare?: number
  readonly outages: number
  readonly longestOutageSeconds: number
}

/** Summarises the known part of a window. Time that is neither online nor an outage is left out. */
export function availabilityOf(absence: Absence, known: Period): Availability {
  const outages = intersect(absence.outages, [known])
  const offlineMs = lengthOf(outages)
  const unknownMs = lengthOf(intersect(absence.gaps, [known])) - offlineMs
  const knownMs = known[1] - known[0] - unknownMs
  return {
    ...(knownMs > 0 && { onlineShare: 1 - offlineMs / knownMs }),
    outages: outages.length,
    longestOutageSeconds: Math.round(outages.reduce((longest, [from, to]) => Math.max(longest, to - from), 0) / 1000),
  }
}

const lengthOf = (periods: readonly Period[]): number => periods.reduce((sum, [from, to]) => sum + to - from, 0)
