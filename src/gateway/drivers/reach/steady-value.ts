// A value that is never twice the same, such as the time of an answer, reported only when it has changed much or is old.
import { minuteMs } from '../../../contract/durations.ts'

/** A report for each poll of each device would keep the server busy with nothing. */
const maxAgeMs = 15 * minuteMs
const minChangeMs = 50

export class SteadyValue {
  #shown = Number.NaN
  #shownAt = 0

  /** The value to report, in whole milliseconds. */
  next(measuredMs: number, now: number): number {
    const changeMs = Math.abs(measuredMs - this.#shown)
    const isNear = changeMs < minChangeMs || changeMs < this.#shown / 2
    if (isNear && now - this.#shownAt < maxAgeMs) return this.#shown
    this.#shown = Math.round(measuredMs)
    this.#shownAt = now
    return this.#shown
  }
}
