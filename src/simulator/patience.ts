// A fetch that waits when the service asks for it: a fleet is built faster than a key may call.
import { setTimeout as pause } from 'node:timers/promises'

const tries = 30

export const patientFetch =
  (signal: AbortSignal): typeof fetch =>
  async (input, init) => {
    for (let n = 1; ; n++) {
      const response = await fetch(input, init)
      if ((response.status !== 429 && response.status !== 503) || n === tries) return response
      await response.body?.cancel()
      const seconds = Number(response.headers.get('retry-after')) || 1
      await pause(Math.min(seconds, 10) * 1000, undefined, { signal })
    }
  }
