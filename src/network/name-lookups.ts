// Looks up names. Names whose servers do not answer cannot block the others.
import type { LookupAddress } from 'node:dns'
import { LRUCache } from 'lru-cache'
import { minuteMs, secondMs } from '../contract/durations.ts'

/** Has the shape of `dns.lookup` with the option `all`. Tests answer with addresses of their own. */
export type ResolveName = (
  hostname: string,
  options: { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

type Callback = Parameters<ResolveName>[2]

/** A name that takes longer is a slow one. */
const slowMs = 2 * secondMs
/** A name that was slow is looked up among the slow ones for this long. */
const slowForMs = 10 * minuteMs
const maxSlowNames = 1000
/** More names that wait would time out anyway. */
const maxWaiting = 50

/**
 * Node looks up names in two threads for the whole process, and a request that is aborted does not free its thread. So each name is
 * looked up once at a time, and of the slow names one at a time: the second thread stays free for the others.
 */
export class NameLookups {
  readonly #resolveName: ResolveName
  readonly #nowMs: () => number
  /** Requests that share a look-up. */
  readonly #callbacks = new Map<string, Callback[]>()
  /** Until when each name counts as slow. */
  readonly #slowUntil = new LRUCache<string, number>({ max: maxSlowNames })
  readonly #waiting: string[] = []
  #isSlowRunning = false

  constructor(resolveName: ResolveName, nowMs: () => number = () => performance.now()) {
    this.#resolveName = resolveName
    this.#nowMs = nowMs
  }

  resolve(hostname: string, callback: Callback): void {
    const pending = this.#callbacks.get(hostname)
    if (pending) {
      pending.push(callback)
      return
    }
    this.#callbacks.set(hostname, [callback])
    if (!this.#isSlow(hostname)) this.#lookUp(hostname, () => undefined)
    else if (this.#waiting.length < maxWaiting) {
      this.#waiting.push(hostname)
      this.#lookUpSlow()
    } else this.#answer(hostname, Object.assign(new Error('too many slow names'), { code: 'ETIMEDOUT' }), [])
  }

  #isSlow(hostname: string): boolean {
    return (this.#slowUntil.get(hostname) ?? 0) > this.#nowMs()
  }

  #lookUpSlow(): void {
    const next = this.#isSlowRunning ? undefined : this.#waiting.shift()
    if (next === undefined) return
    this.#isSlowRunning = true
    this.#lookUp(next, () => {
      this.#isSlowRunning = false
      this.#lookUpSlow()
    })
  }

  #lookUp(hostname: string, onEnd: () => void): void {
    const startedAt = this.#nowMs()
    this.#resolveName(hostname, { all: true }, (error, addresses) => {
      const now = this.#nowMs()
      this.#slowUntil.delete(hostname)
      if (now - startedAt > slowMs) this.#slowUntil.set(hostname, now + slowForMs)
      this.#answer(hostname, error, addresses)
      onEnd()
    })
  }

  #answer(hostname: string, error: NodeJS.ErrnoException | null, addresses: LookupAddress[]): void {
    const callbacks = this.#callbacks.get(hostname) ?? []
    this.#callbacks.delete(hostname)
    for (const callback of callbacks) callback(error, addresses)
  }
}
