// Work that comes back: one run after the other, never two at once, and a failure only skips its turn.
import type { Log } from './log.ts'

/** Starts it; what it returns stops it, after the run that is under way. A long one looks at the signal between its pieces. */
export function repeat(
  ms: number,
  what: string,
  log: Log,
  work: (signal: AbortSignal) => Promise<unknown>,
): () => Promise<void> {
  let underWay: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout
  const stop = new AbortController()
  const run = () => {
    underWay = work(stop.signal)
      .catch((error) => log.warn({ reason: (error as Error).message }, `${what} failed, trying again`))
      .then(() => {
        if (!stop.signal.aborted) timer = setTimeout(run, ms)
      })
  }
  timer = setTimeout(run, ms)
  return async () => {
    stop.abort()
    clearTimeout(timer)
    await underWay
  }
}
