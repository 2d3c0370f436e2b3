// Counts the bad messages of each device within a minute: many slow it down, more shut it out for a minute.
import { boundedCache } from '../../../core/bounded-cache.ts'
import type { Clock } from '../../../core/clock.ts'

/** Beyond this many in a minute, one message of the device is read in a second. */
export const maxBeforeSlowed = 10
/** Beyond this many in a minute, the connection is closed and new ones are refused for a while. */
export const maxBeforeShutOut = 60

const windowMs = 60_000
const shutOutMs = 60_000
/** If more devices send bad messages within a minute, the records of those that did so least recently are dropped. */
const maxDeviceCount = 10_000

interface DeviceRecord {
  /** The times of the bad messages of the device, oldest first: at most one more than are allowed. */
  times: number[]
  shutOutAt: number | undefined
}

export type Verdict = 'none' | 'slowed' | 'shut out'

export class BadMessageLimit {
  readonly #clock: Clock
  readonly #devices = boundedCache<DeviceRecord>(maxDeviceCount)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts a bad message, and says what follows for the device. */
  count(endpointId: string): Verdict {
    const now = this.#clock.now()
    const record = this.#find(endpointId) ?? { times: [], shutOutAt: undefined }
    this.#devices.set(endpointId, record)
    record.times.push(now)
    if (record.times.length > maxBeforeShutOut) {
      record.times = []
      record.shutOutAt = now
      return 'shut out'
    }
    return record.times.length > maxBeforeSlowed ? 'slowed' : 'none'
  }

  /** Whether only one message of the device should be read in a second. */
  isSlowed(endpointId: string): boolean {
    const record = this.#find(endpointId)
    return record !== undefined && record.times.length > maxBeforeSlowed
  }

  /** Whether connections of the device should be refused. */
  isShutOut(endpointId: string): boolean {
    return this.#find(endpointId)?.shutOutAt !== undefined
  }

  #find(endpointId: string): DeviceRecord | undefined {
    const record = this.#devices.get(endpointId)
    return record && this.#expire(endpointId, record, this.#clock.now()) ? undefined : record
  }

  /** Deletes records that are too old, and returns whether none is left. A time ahead of the clock is old too: the clock was set back. */
  #expire(endpointId: string, record: DeviceRecord, now: number): boolean {
    const isWithin = (at: number, ms: number) => now >= at && now - at < ms
    record.times = record.times.filter((at) => isWithin(at, windowMs))
    if (record.shutOutAt !== undefined && !isWithin(record.shutOutAt, shutOutMs)) record.shutOutAt = undefined
    const isOver = record.times.length === 0 && record.shutOutAt === undefined
    if (isOver) this.#devices.delete(endpointId)
    return isOver
  }
}
