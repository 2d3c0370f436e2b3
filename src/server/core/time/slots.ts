// The periods that samples are grouped in, in Unix seconds. Rows store the numbers of slots, so a length must never change.
import { daySeconds, hourSeconds } from '../../../contract/durations.ts'
import { dayOf, startOfDay } from './time-zone.ts'

/** The slot of raw samples. */
export const slotSeconds = 300
export const quarterSeconds = 900

export interface SlotScale {
  /** The number of the bucket that contains a time. */
  at(seconds: number): number
  /** The start of a bucket, which is the end of the one before it. */
  start(bucket: number): number
}

const even = (length: number): SlotScale => ({
  at: (seconds) => Math.floor(seconds / length),
  start: (bucket) => bucket * length,
})
export const slots = even(slotSeconds)
export const quarters = even(quarterSeconds)
export const hours = even(hourSeconds)
export const days = even(daySeconds)
export const daysIn = (zone: string): SlotScale => ({
  at: (seconds) => dayOf(zone, seconds),
  start: (day) => startOfDay(zone, day),
})

/** The first bucket that does not begin before the given time. */
export function firstFrom(buckets: SlotScale, seconds: number): number {
  const bucket = buckets.at(seconds)
  return buckets.start(bucket) >= seconds ? bucket : bucket + 1
}

/** The numbers of the buckets from the first to the one before `end`. */
export const numbersFrom = (first: number, end: number): number[] =>
  Array.from({ length: end - first }, (_, i) => first + i)
