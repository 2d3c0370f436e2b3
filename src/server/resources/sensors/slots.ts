// The buckets of time that samples lie in, in Unix seconds. Rows hold their numbers: never change a length.
import { dayOf, startOfDay } from '../../core/time-zone.ts'

/** Raw samples: how much time shares a place. */
export const slotLength = 300
export const quarterLength = 900
export const hourLength = 3600
/** A day of UTC, as PostgreSQL keeps raw samples apart. */
export const dayLength = 86_400

export interface SlotScale {
  /** The number of the bucket that a time lies in. */
  at(seconds: number): number
  /** When a bucket begins: where the one before it ends. */
  start(bucket: number): number
}

const even = (length: number): SlotScale => ({
  at: (seconds) => Math.floor(seconds / length),
  start: (bucket) => bucket * length,
})
export const slots = even(slotLength)
export const quarters = even(quarterLength)
export const hours = even(hourLength)
export const days = even(dayLength)
export const daysIn = (zone: string): SlotScale => ({
  at: (seconds) => dayOf(zone, seconds),
  start: (day) => startOfDay(zone, day),
})

/** The first bucket that does not begin before that time. */
export function firstFrom(buckets: SlotScale, seconds: number): number {
  const bucket = buckets.at(seconds)
  return buckets.start(bucket) >= seconds ? bucket : bucket + 1
}

/** The numbers of the buckets from the first to the one before `end`. */
export const numbersFrom = (first: number, end: number): number[] =>
  Array.from({ length: end - first }, (_, i) => first + i)
