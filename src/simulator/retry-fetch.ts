// A fetch that retries after 429 and 503 as Retry-After says: creating a fleet exceeds the rate limit of a key.
import { setTimeout as pause } from 'node:timers/promises'

const maxAttempts = 30
const maxWaitSeconds = 10

export const retryingFetch =
  (signal: AbortSignal): typeof fetch =>
  async (input, init) => {
    for (let attempt = 1; ; attempt++) {
      const response = await fetch(input, init)
      if ((response.status !== 429 && response.status !== 503) || attempt === maxAttempts) return response
      await response.body?.cancel()
      const seconds = Number(response.headers.get('retry-after')) || 1
      await pause(Math.min(seconds, maxWaitSeconds) * 1000, undefined, { signal })
    }
  }
