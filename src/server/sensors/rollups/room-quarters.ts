// Computes the values of a room in a quarter of an hour from those of its devices.
import type { RoomDaySensor } from '../../db/schema/schema.ts'
import { packPeople, peopleHundredths } from './quarter-values.ts'

/** The measurements of a device in a quarter, in the units of samples. */
export interface DeviceQuarter {
  /** Whether its people are only 0 and 1. */
  readonly isPresence: boolean
  readonly sums: Readonly<Record<RoomDaySensor, { readonly count: number; readonly sum: number } | undefined>>
}

/**
 * The largest mean of the devices, because two counters of one room see the same people. It is a count of people, unless no device that
 * counts saw as many.
 */
export function peopleOf(devices: readonly DeviceQuarter[]): number | undefined {
  let most: number | undefined
  for (const { isPresence, sums } of devices) {
    if (!sums.people) continue
    const hundredths = Math.round((sums.people.sum * 100) / sums.people.count)
    const before = most === undefined ? -1 : peopleHundredths(most)
    if (hundredths > before || (hundredths === before && !isPresence)) most = packPeople(hundredths, isPresence)
  }
  return most
}

/** The mean of the means of the devices, in the order of their numbers. */
export function airOf(devices: readonly DeviceQuarter[], sensor: RoomDaySensor): number | undefined {
  let sum = 0
  let count = 0
  for (const { sums } of devices) {
    const measured = sums[sensor]
    if (!measured) continue
    sum += measured.sum / measured.count
    count++
  }
  return count === 0 ? undefined : Math.round(sum / count)
}
