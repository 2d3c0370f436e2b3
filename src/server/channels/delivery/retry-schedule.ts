// The times of deliveries: the retries, when a channel is disabled, and how long messages are kept. [contract 10.delivery]
import { dayMs, hourMs, minuteMs, secondMs } from '../../../contract/durations.ts'

/** The delays after the first attempts; after the last of them the delay stays a day. */
const retryDelaysMs = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
] as const
const maxRetryDelayMs = 24 * hourMs

/** A delay is longer by up to this part of itself, so that the messages of an outage do not come back at the same moment. */
const jitterShare = 0.1

/** A channel to which nothing could be delivered for this long is disabled. */
export const disableAfterMs = 120 * hourMs

/** Messages that wait, and the log of those that were sent, are kept for this long. */
export const deliveryRetentionMs = 30 * dayMs

interface FailedAttempt {
  readonly now: number
  /** How many attempts there were, with this one. */
  readonly attempts: number
  /** The time that the receiver asked for. */
  readonly retryAfterMs?: number | undefined
}

export function nextAttemptAt({ now, attempts, retryAfterMs = 0 }: FailedAttempt, random = Math.random): number {
  const delayMs = retryDelaysMs[attempts - 1] ?? maxRetryDelayMs
  const askedMs = Math.min(retryAfterMs, maxRetryDelayMs)
  return now + Math.round(Math.max(delayMs * (1 + jitterShare * random()), askedMs))
}

/** Reads the header Retry-After: seconds, or a date. Undefined if it is neither. */
export function retryAfterMsOf(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  if (/^\d{1,10}$/.test(header.trim())) return Number(header) * secondMs
  const date = /^[A-Z][a-z]{2}, .+ GMT$/.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
