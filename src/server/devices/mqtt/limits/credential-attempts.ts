// Counts wrong credentials and connections that were replaced, in memory, until a task writes them to the database. [contract 10.rule]
import { minuteMs } from '../../../../contract/durations.ts'
import type { Clock } from '../../../core/clock.ts'
import { isUuid } from '../../../core/uuid.ts'

export type AttemptKind = 'refused' | 'replaced'

export interface CountedAttempts {
  readonly endpointId: string
  readonly kind: AttemptKind
  /** The beginning of the minute in milliseconds. */
  readonly minute: number
  readonly address: string
  count: number
  /** The time of the last attempt, in milliseconds. */
  lastAt: number
}

/** Anybody may send wrong credentials, so that the memory for them is bounded. Further ones are not counted. */
const maxCounted = 2000

export class CredentialAttempts {
  readonly #clock: Clock
  #counts = new Map<string, CountedAttempts>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A user name that is no UUID is that of no endpoint. */
  record(kind: AttemptKind, endpointId: string | undefined, address: string): void {
    if (endpointId === undefined || !isUuid(endpointId)) return
    const lastAt = this.#clock.now()
    const minute = Math.floor(lastAt / minuteMs) * minuteMs
    const key = `${kind} ${endpointId} ${minute} ${address}`
    const counted = this.#counts.get(key)
    if (counted) {
      counted.count++
      counted.lastAt = lastAt
    } else if (this.#counts.size < maxCounted) {
      this.#counts.set(key, { endpointId, kind, minute, address, count: 1, lastAt })
    }
  }

  /** Returns what was counted since the last call. */
  take(): CountedAttempts[] {
    const counts = [...this.#counts.values()]
    this.#counts = new Map()
    return counts
  }
}
