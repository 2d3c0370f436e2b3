// A fetch that waits when the server asks for it, and sends the request again.
import { retryAfterMs } from './back-off.ts'

/** A server that asks for more than this does not want the request soon. */
const maxWaitSeconds = 120
/** How long one request waits at most, with all its attempts. */
const maxTotalWaitSeconds = 600

export interface Waiting {
  readonly seconds: number
  /** The status of the answer that asks for it: 409, 429 or 503. */
  readonly status: number
}

/** The wait ended before the request was sent again. */
export class WaitEnded extends Error {
  constructor() {
    super('Interrupted.')
  }
}

/**
 * A 429 was not carried out, and a 503 has a Retry-After only if nothing was changed, so the same request can be sent again [contract 2.5]. A 409
 * has one while an earlier request with the same Idempotency-Key still runs [contract 7.once].
 * `onWait` is called before each wait. `stop` ends a wait, and every later one, with a `WaitEnded`; a request that is under way goes on.
 */
export const waitingFetch =
  (onWait: (waiting: Waiting) => void, send: typeof fetch = fetch, stop?: AbortSignal): typeof fetch =>
  async (input, init) => {
    for (let waitedSeconds = 0; ; ) {
      const response = await send(input, init)
      const seconds = secondsToWait(response)
      if (seconds === undefined || waitedSeconds + seconds > maxTotalWaitSeconds) return response
      waitedSeconds += seconds
      await response.body?.cancel()
      onWait({ seconds, status: response.status })
      await pause(seconds * 1000, [init?.signal, stop])
      // Rejects as fetch does if the caller gives up.
      init?.signal?.throwIfAborted()
      if (stop?.aborted) throw new WaitEnded()
    }
  }

/** Returns undefined if the server does not ask the caller to try again, or asks for a long wait. */
function secondsToWait({ status, headers }: Response): number | undefined {
  const seconds = (retryAfterMs(headers) ?? Number.POSITIVE_INFINITY) / 1000
  return [409, 429, 503].includes(status) && seconds <= maxWaitSeconds ? seconds : undefined
}

/** Ends early when one of the signals does. */
const pause = (ms: number, signals: readonly (AbortSignal | null | undefined)[]): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      for (const signal of signals) signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    for (const signal of signals) signal?.addEventListener('abort', end)
    if (signals.some((signal) => signal?.aborted)) end()
  })
