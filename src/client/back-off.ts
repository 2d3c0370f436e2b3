// How long to wait before the next attempt: exponential back-off with jitter, and the wait that a server asks for.
import { hourMs, secondMs } from '../contract/durations.ts'

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

/**
 * The wait in Retry-After, between a second and an hour. Undefined without the header, or if it has a date: Roomkeeper sends seconds, and a
 * proxy in front of it can send a date.
 */
export function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get('retry-after') ?? ''
  return /^\d+$/.test(text) ? Math.min(hourMs, Math.max(secondMs, Number(text) * secondMs)) : undefined
}
