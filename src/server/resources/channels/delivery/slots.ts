// Bounds how many messages are sent at the same time, so that receivers that do not answer leave room for the others.
import { secondMs } from '../../../../contract/durations.ts'

/** The limit for all channels of all organisations on this node. */
const maxParallelAttempts = 64
/** The limit for all channels whose last attempt failed or took long. */
const maxParallelSlowAttempts = 32
/** The limit for all channels of one organisation. */
const maxParallelAttemptsOfOrg = 16
/** An attempt that takes longer makes its channel a slow one. */
const slowAttemptMs = 2 * secondMs

interface Attempt {
  readonly org: number
  readonly channelId: number
  /** The last attempt of the channel failed. */
  readonly isFailing: boolean
}

interface WaitingAttempt {
  readonly org: number
  readonly isSlow: boolean
  readonly start: () => void
}

export class AttemptSlots {
  #used = 0
  #usedBySlow = 0
  readonly #usedByOrg = new Map<number, number>()
  /** The key names the organisation and the channel. */
  readonly #slowChannels = new Set<string>()
  readonly #waiting: WaitingAttempt[] = []
  readonly #nowMs: () => number

  /** The clock measures how long attempts take. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Runs the work when there is room for it. */
  async run<T>({ org, channelId, isFailing }: Attempt, work: () => Promise<T>): Promise<T> {
    const channel = `${org}/${channelId}`
    const isSlow = isFailing || this.#slowChannels.has(channel)
    if (this.#hasRoom(org, isSlow)) this.#take(org, isSlow)
    else await new Promise<void>((start) => this.#waiting.push({ org, isSlow, start }))
    const startedAt = this.#nowMs()
    try {
      return await work()
    } finally {
      if (this.#nowMs() - startedAt > slowAttemptMs) this.#slowChannels.add(channel)
      else this.#slowChannels.delete(channel)
      this.#release(org, isSlow)
    }
  }

  #hasRoom(org: number, isSlow: boolean): boolean {
    if (this.#used >= maxParallelAttempts || (this.#usedByOrg.get(org) ?? 0) >= maxParallelAttemptsOfOrg) return false
    return !isSlow || this.#usedBySlow < maxParallelSlowAttempts
  }

  #take(org: number, isSlow: boolean): void {
    this.#used++
    this.#usedByOrg.set(org, (this.#usedByOrg.get(org) ?? 0) + 1)
    if (isSlow) this.#usedBySlow++
  }

  /** Starts the attempt that has waited longest and fits. */
  #release(org: number, wasSlow: boolean): void {
    this.#used--
    if (wasSlow) this.#usedBySlow--
    const usedByOrg = (this.#usedByOrg.get(org) ?? 0) - 1
    if (usedByOrg > 0) this.#usedByOrg.set(org, usedByOrg)
    else this.#usedByOrg.delete(org)
    const index = this.#waiting.findIndex((waiting) => this.#hasRoom(waiting.org, waiting.isSlow))
    const [next] = index < 0 ? [] : this.#waiting.splice(index, 1)
    if (!next) return
    this.#take(next.org, next.isSlow)
    next.start()
  }
}
