// The clock of the service, which tests can replace, and how answers write times.
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
}

export const systemClock: Clock = { now: Date.now }

/** RFC 3339 UTC with milliseconds. [contract 1.6] */
export const isoTime = (ms: number): string => new Date(ms).toISOString()
