// Limits that keep one device from delaying the others.
import { setTimeout as pause } from 'node:timers/promises'

/** Rejects with `late` if the work takes longer. The work itself goes on; a driver ends it when its signal is aborted. */
export function limited<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), limitMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Gives turns that are at least this far apart, so a thousand devices do not start at the same moment. */
export class Pace {
  readonly #apartMs: number
  #nextMs = 0

  constructor(apartMs: number) {
    this.#apartMs = apartMs
  }

  async turn(signal: AbortSignal): Promise<void> {
    const now = performance.now()
    const at = Math.max(now, this.#nextMs)
    this.#nextMs = at + this.#apartMs
    if (at > now) await pause(at - now, undefined, { signal })
  }
}
