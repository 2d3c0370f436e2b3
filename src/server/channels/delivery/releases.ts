// Decides when the first success after failures makes everything due that waits for a channel. [contract 10.delivery]
import { minuteMs } from '../../../contract/durations.ts'

/**
 * A receiver may refuse one message for good and accept all others. Without this pause, each success would send the refused message
 * again.
 */
const pauseMs = minuteMs

interface ReleaseState {
  readonly at: number
  /** True if a success came during the pause; what waits is released after it. */
  isPending: boolean
}

export class RetryReleases {
  /** By organisation and channel. The next holder of the task may release once more, which does no harm. */
  readonly #states = new Map<string, ReleaseState>()

  /** Returns whether this success releases what waits. */
  succeeded(key: string, now: number): boolean {
    const state = this.#states.get(key)
    if (state && now - state.at < pauseMs) {
      state.isPending = true
      return false
    }
    this.#states.set(key, { at: now, isPending: false })
    return true
  }

  /** Returns whether a release that the pause prevented is due. */
  takePending(key: string, now: number): boolean {
    const state = this.#states.get(key)
    if (!state?.isPending || now - state.at < pauseMs) return false
    this.#states.set(key, { at: now, isPending: false })
    return true
  }

  /** After the clock was set back, the times that are known are of no use. */
  forget(key: string): void {
    this.#states.delete(key)
  }

  /** After a failure the next success decides again. */
  failed(key: string): void {
    const state = this.#states.get(key)
    if (state) state.isPending = false
  }
}
