// The age of a sample, and whether it may be shown as current.

/** An older sample is shown with its age. */
export const maxAgeOfNowMs = 2 * 60_000

export interface Freshness {
  readonly atMs: number | undefined
  readonly isNow: boolean
}

const none: Freshness = { atMs: undefined, isNow: false }

export const freshnessOf = (atMs: number | undefined, now: number): Freshness =>
  atMs === undefined ? none : { atMs, isNow: now - atMs < maxAgeOfNowMs }
