// Computes when nothing was connected, out of the times in which something was. All times are milliseconds.

/** A period from its first number, inclusive, to its second, exclusive. */
export type Period = readonly [from: number, to: number]

/** Collects the gaps between the spans of one endpoint. They are added in the order of their beginnings, and may overlap. */
export class Gaps {
  readonly list: Period[] = []
  readonly #to: number
  #at: number

  constructor([from, to]: Period) {
    this.#at = from
    this.#to = to
  }

  add(since: number, until: number): void {
    if (until <= this.#at || since >= this.#to || until <= since) return
    if (since > this.#at) this.list.push([this.#at, since])
    this.#at = until
  }

  /** Must be called last, and once. */
  end(): readonly Period[] {
    if (this.#at < this.#to) this.list.push([this.#at, this.#to])
    return this.list
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

/** Summarises the gaps of the known part of a window. */
export function availabilityOf(gaps: readonly Period[], known: Period): Availability {
  const knownMs = known[1] - known[0]
  const outages = intersect(gaps, [known])
  let [offlineMs, longestMs] = [0, 0]
  for (const [from, to] of outages) {
    offlineMs += to - from
    longestMs = Math.max(longestMs, to - from)
  }
  return {
    ...(knownMs > 0 && { onlineShare: 1 - offlineMs / knownMs }),
    outages: outages.length,
    longestOutageSeconds: Math.round(longestMs / 1000),
  }
}
