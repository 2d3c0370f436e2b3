// Computes from connection spans when an endpoint or a room was not connected: offline, asleep or unknown. All times are milliseconds.
import { minuteMs } from '../../../contract/durations.ts'

/**
 * The time before the end of a gateway in which nothing is known about its devices: the server notices the loss of one connection earlier
 * than the loss of another.
 */
export const hiddenBeforeEndMs = minuteMs

/** A period from its first number, inclusive, to its second, exclusive. */
export type Period = readonly [from: number, to: number]

/** The times in which an endpoint, or all endpoints of a room, had no connection. */
export interface Absence {
  readonly gaps: readonly Period[]
  /** The parts of the gaps in which the endpoint was offline. */
  readonly outages: readonly Period[]
  /** The parts in which it was asleep, or its state was not known, in order. */
  readonly excused: readonly ExcusedPeriod[]
}

interface ExcusedPeriod {
  readonly period: Period
  readonly state: 'ASLEEP' | 'UNKNOWN'
}

/** Says which states a gap after a connection consists of. */
export interface GapFacts {
  /** Until then the state is not known, because a server stopped. */
  readonly unknownUntil: number | null
  /** Whether the endpoint is asleep after that; otherwise it is offline. */
  readonly isRested: boolean
  /** The time at which a rested endpoint had slept for too long; it is offline from then on. */
  readonly oversleptAt: number | null
  /** Periods in which the gateway of the endpoint was away, in order. */
  readonly hidden: readonly Period[]
}

const plainGap: GapFacts = { unknownUntil: null, isRested: false, oversleptAt: null, hidden: [] }

/** Collects the gaps between the spans of one endpoint. They are added in the order of their starts, and can overlap. */
export class Gaps {
  readonly #gaps: Period[] = []
  readonly #outages: Period[] = []
  readonly #excused: ExcusedPeriod[] = []
  readonly #from: number
  readonly #to: number
  #at: number
  #facts = plainGap

  constructor([from, to]: Period) {
    this.#from = from
    this.#at = from
    this.#to = to
  }

  /** `facts` are about the gap that follows the span. */
  add(since: number, until: number, facts: GapFacts = plainGap): void {
    // A span before the window says what the first gap in the window is.
    const isBefore = until <= this.#from
    if (!isBefore && (until <= this.#at || since >= this.#to || until <= since)) return
    if (!isBefore) {
      this.#addGap(since)
      this.#at = until
    }
    this.#facts = facts
  }

  /** Must be called last, and once. */
  end(): Absence {
    this.#addGap(this.#to)
    return { gaps: this.#gaps, outages: this.#outages, excused: this.#excused }
  }

  #addGap(to: number): void {
    if (to <= this.#at) return
    const gap: Period = [this.#at, to]
    this.#gaps.push(gap)
    const { unknownUntil, isRested, oversleptAt, hidden } = this.#facts
    const knownFrom = Math.max(gap[0], unknownUntil ?? gap[0])
    const asleepUntil = isRested ? Math.max(knownFrom, oversleptAt ?? to) : knownFrom
    const ends: readonly (readonly [state: 'UNKNOWN' | 'ASLEEP' | 'OFFLINE', until: number])[] = [
      ['UNKNOWN', knownFrom],
      ['ASLEEP', asleepUntil],
      ['OFFLINE', to],
    ]
    const parts: { period: Period; state: 'UNKNOWN' | 'ASLEEP' | 'OFFLINE' }[] = []
    let at = gap[0]
    for (const [state, until] of ends) {
      const period: Period = [at, Math.min(until, to)]
      if (period[0] >= period[1]) continue
      at = period[1]
      for (const part of cutHidden(period, hidden)) {
        const shown = part.isHidden ? 'UNKNOWN' : state
        const last = parts.at(-1)
        if (last?.state === shown) last.period = [last.period[0], part.period[1]]
        else parts.push({ period: part.period, state: shown })
      }
    }
    for (const { period, state } of parts) {
      if (state === 'OFFLINE') this.#outages.push(period)
      else this.#excused.push({ period, state })
    }
  }
}

/** Cuts a period at the starts and ends of hidden periods. */
function* cutHidden([from, to]: Period, hidden: readonly Period[]): Iterable<{ period: Period; isHidden: boolean }> {
  let at = from
  for (const [start, end] of intersect([[from, to]], hidden)) {
    if (start > at) yield { period: [at, start], isHidden: false }
    yield { period: [start, end], isHidden: true }
    at = end
  }
  if (at < to) yield { period: [at, to], isHidden: false }
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

/** Joins periods that overlap. They are in the order of their starts. */
export function mergeOverlapping(periods: readonly Period[]): Period[] {
  const merged: Period[] = []
  for (const [from, to] of periods) {
    const last = merged.at(-1)
    if (last && from <= last[1]) merged[merged.length - 1] = [last[0], Math.max(last[1], to)]
    else merged.push([from, to])
  }
  return merged
}

interface Availability {
  /** Absent if nothing is known about the window. */
  readonly onlineShare?: number
  readonly outages: number
  readonly longestOutageSeconds: number
}

/** Summarises the known part of a window. Time that is neither online nor an outage is left out. */
export function availabilityOf(absence: Pick<Absence, 'gaps' | 'outages'>, known: Period): Availability {
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
