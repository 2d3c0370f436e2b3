// Exponential back-off with jitter: how long to wait before the next attempt.

export interface BackOff {
  readonly firstMs: number
  readonly maxMs: number
}

/**
 * The wait doubles with each failure up to the maximum. Jitter is applied after the cap: applied before it, all clients at the
 * maximum would wait equally long and return together.
 */
export const backOffMs = (failures: number, { firstMs, maxMs }: BackOff, random = Math.random()): number =>
  Math.min(maxMs, firstMs * 2 ** failures) * (0.5 + random / 2)
